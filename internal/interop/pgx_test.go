package interop

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/oidkit/oid/internal/query"
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
			config := testenv.Must(pgx.ParseConfig(url))(t)
			config.DefaultQueryExecMode = c.mode
			conn := testenv.Must(pgx.ConnectConfig(t.Context(), config))(t)
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
				testenv.Must(conn.Exec(t.Context(), q.sql, q.args...))(t)
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
			err := conn.QueryRow(t.Context(), "SELECT count(*) FROM docs WHERE raw = ANY($1)", []objectid.ID{id, other}).Scan(&n)
			if c.lists && (err != nil || n != 2) || !c.lists && err == nil {
				t.Errorf("a list of two ids finds %d documents, %v", n, err)
			}
		})
	}
}

// What "oid range" writes for PostgreSQL and for columns of text finds what it says.
func TestConditionsInPostgreSQL(t *testing.T) {
	conn := testenv.Must(pgx.Connect(t.Context(), testenv.PostgresURL(t)))(t)
	defer conn.Close(t.Context())
	testenv.Must(conn.Exec(t.Context(), "CREATE TEMPORARY TABLE docs (postgres BYTEA, sqltext TEXT)"))(t)
	ids := []string{
		"6ae681000000000000000001", "6ae68100bcf86cd799000000", "6ae68100bcf86cd799ffffff", "6ae68100bcf86cd798ffffff",
		"6ae680ffbcf86cd799ffffff", "6b0e0e00bcf86cd799000000",
	}
	for _, id := range ids {
		testenv.Must(conn.Exec(t.Context(), "INSERT INTO docs VALUES ($1, $2)", objectid.MustParse(id), id))(t)
	}
	month := objectid.Range{From: objectid.MustParse("6ae681000000000000000000"), To: objectid.MustParse("6b0e0e000000000000000000")}
	for _, f := range query.Languages {
		if f.Name != "postgres" && f.Name != "sqltext" {
			continue
		}
		for _, want := range []struct {
			r       objectid.Range
			process string
			n       int
		}{{objectid.Range{}, "", 6}, {month, "", 4}, {month, "bcf86cd799", 2}, {month, "bcf86cd7", 3}, {objectid.Range{}, "bcf86cd799", 4}} {
			condition := f.Write(want.r, f.Name, want.process)
			var n int
			err := conn.QueryRow(t.Context(), "SELECT count(*) FROM docs WHERE "+condition).Scan(&n)
			if err != nil || n != want.n {
				t.Errorf("%s: %d, %v, want %d", condition, n, err, want.n)
			}
		}
	}
}
