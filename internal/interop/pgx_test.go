package interop

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

// Single ids work in every mode of pgx, lists of them where pgx knows the type of the
// column, as docs/migrate.md says.
func TestPgx(t *testing.T) {
	url := testenv.PostgresURL(t)
	for _, c := range []struct {
		name  string
		mode  pgx.QueryExecMode
		lists bool
	}{
		{"cache", pgx.QueryExecModeCacheStatement, true},
		{"describe", pgx.QueryExecModeCacheDescribe, true},
		{"exec", pgx.QueryExecModeExec, false},
		{"simple", pgx.QueryExecModeSimpleProtocol, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			config, err := pgx.ParseConfig(url)
			if err != nil {
				t.Fatal(err)
			}
			config.DefaultQueryExecMode = c.mode
			conn, err := pgx.ConnectConfig(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(t.Context())
			id, other := objectid.New(), objectid.New()
			for _, q := range []struct {
				sql  string
				args []any
			}{
				{"CREATE TEMPORARY TABLE docs (raw BYTEA, hex TEXT, parent BYTEA)", nil},
				{"INSERT INTO docs VALUES ($1, $2, $3)", []any{id, objectid.Hex{ID: id}, objectid.ID{}}},
				{"INSERT INTO docs VALUES ($1, $2, $3)", []any{other, objectid.Hex{ID: other}, id}},
			} {
				if _, err := conn.Exec(t.Context(), q.sql, q.args...); err != nil {
					t.Fatalf("%s: %v", q.sql, err)
				}
			}
			for sql, arg := range map[string]any{"raw = $1": id, "hex = $1": objectid.Hex{ID: id}, "raw = $1 AND parent IS NULL": id.Bytes()} {
				var raw, hex objectid.ID
				parent := other
				err := conn.QueryRow(t.Context(), "SELECT raw, hex, parent FROM docs WHERE "+sql, arg).Scan(&raw, &hex, &parent)
				if err != nil || raw != id || hex != id || !parent.IsZero() {
					t.Errorf("%s: %v, %v, %v, %v, want %v", sql, raw, hex, parent, err, id)
				}
			}
			var n int
			err = conn.QueryRow(t.Context(), "SELECT count(*) FROM docs WHERE raw = ANY($1)", []objectid.ID{id, other}).Scan(&n)
			if c.lists && (err != nil || n != 2) || !c.lists && err == nil {
				t.Errorf("a list of two ids finds %d documents, %v", n, err)
			}
		})
	}
}
