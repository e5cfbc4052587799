package interop

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql" // the driver "mysql"
	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

const columnID = "507f1f77bcf86cd799439011"

// columns are types of columns, a value in SQL for each, and which of both types reads columnID
// from it. In RAW and DIGITS stand the id's bytes and digits.
var columns = map[string][]struct {
	column, value string
	id, hex       bool
}{
	"mysql": {
		{"BINARY(12)", "RAW", true, false},
		{"VARBINARY(12)", "RAW", true, false},
		{"BLOB", "RAW", true, false},
		{"BINARY(16)", "RAW", false, false}, // filled with zeros
		{"BINARY(24)", "DIGITS", true, true},
		{"VARCHAR(24)", "DIGITS", true, true},
		{"CHAR(24) CHARACTER SET ascii", "DIGITS", true, true},
		{"CHAR(40)", "DIGITS", true, true},
		{"TEXT", "DIGITS", true, true},
		{"VARCHAR(12)", "'Rheumatology'", false, false},
		{"VARCHAR(12)", "'RHEUMATOLOGY'", false, false},
		{"VARCHAR(40)", "'New York, NY'", true, false},
		{"VARCHAR(40)", "'two of these'", false, false},
		{"VARCHAR(40)", "'数据分析'", false, false},
		{"VARCHAR(40)", "'Москва'", false, false},
		{"VARCHAR(40)", "'Müllerstr.7'", false, false},
		{"CHAR(12)", "'abc'", false, false},
		{"TEXT", "'INV-20261128'", false, false},
		{"BINARY(12)", "'Rheumatology'", false, false},
		{"ENUM('Rheumatology')", "'Rheumatology'", false, false},
		{"DECIMAL(11,2)", "123456789.12", false, false},
		{"TIME(3)", "'12:34:56.789'", false, false},
		{"BIGINT", "123456789012", false, false},
		{"JSON", `'"tenletters"'`, true, false},
		{"VARCHAR(12)", "'kJ8sQz1-Pd3x'", true, false}, // what the doc of Scan names
	},
	"pgx": {
		{"bytea", "RAW", true, false},
		{"text", "DIGITS", true, true},
		{"varchar(24)", "DIGITS", true, true},
		{"char(24)", "DIGITS", true, true},
		{"char(40)", "DIGITS", false, false}, // filled with spaces
		{"text", "'Rheumatology'", false, false},
		{"char(12)", "'kJ8sQz1-Pd3x'", false, false},
		{"name", "'kJ8sQz1-Pd3x'", false, false},
		{"json", `'"Rheumatol."'`, true, false}, // handed over as bytes, like XML
		{"jsonb", `'123456789012'`, false, false},
		{"xml", "'Rheumatology'", false, false},
		{"bytea", "'Rheumatology'", false, false},
		{"numeric", "123456789.12", false, false},
	},
	"sqlite": {
		{"BLOB", "RAW", true, false},
		{"TEXT", "DIGITS", true, true},
		{"CHAR(24)", "DIGITS", true, true},
		{"BLOB", "DIGITS", true, true},
		{"TEXT", "'Rheumatology'", false, false},
		{"BLOB", "'Rheumatology'", false, false},
		{"BLOB", "'kJ8sQz1-Pd3x'", false, false},
		{"BLOB", "CAST('Rheumatology' AS BLOB)", false, false},
		{"DECIMAL", "123456789.12", false, false},
	},
}

// TestColumns reads ids, and what is none, from columns of all types as drivers hand them over.
func TestColumns(t *testing.T) {
	for driver, open := range map[string]func(t *testing.T) (db *sql.DB, raw string){
		"mysql": func(t *testing.T) (*sql.DB, string) {
			socket := strings.TrimPrefix(testenv.MariaDB(t)[2], "--socket=")
			return testenv.Must(sql.Open("mysql", "root@unix("+socket+")/shop"))(t), "x'" + columnID + "'"
		},
		"pgx": func(t *testing.T) (*sql.DB, string) {
			return testenv.Must(sql.Open("pgx", testenv.PostgresURL(t)))(t), `'\x` + columnID + "'"
		},
		"sqlite": func(t *testing.T) (*sql.DB, string) { return openSQLite(t), "x'" + columnID + "'" },
	} {
		t.Run(driver, func(t *testing.T) {
			db, raw := open(t)
			db.SetMaxOpenConns(1) // which has the temporary tables
			t.Cleanup(func() { _ = db.Close() })
			for i, c := range columns[driver] {
				value := strings.NewReplacer("RAW", raw, "DIGITS", "'"+columnID+"'").Replace(c.value)
				charset := map[string]string{"mysql": " CHARACTER SET utf8mb4"}[driver]
				testenv.Must(db.Exec(fmt.Sprintf("CREATE TEMPORARY TABLE c%d (v %s)%s", i, c.column, charset)))(t)
				testenv.Must(db.Exec(fmt.Sprintf("INSERT INTO c%d VALUES (%s)", i, value)))(t)
				var query strings.Builder
				query.WriteString(fmt.Sprintf("SELECT v FROM c%d", i))
				// With an argument the driver of MySQL uses its other protocol.
				where := map[string]string{"pgx": " WHERE 1 = $1"}[driver]
				for _, args := range [][]any{nil, {1}} {
					if args != nil {
						query.WriteString(where)
						if where == "" {
							query.WriteString(" WHERE 1 = ?")
						}
					}
					id, hex := objectid.ID{7}, objectid.Hex{ID: objectid.ID{7}}
					var null sql.Null[objectid.ID]
					idErr, hexErr := db.QueryRow(query.String(), args...).Scan(&id), db.QueryRow(query.String(), args...).Scan(&hex)
					nullErr := db.QueryRow(query.String(), args...).Scan(&null)
					if (nullErr == nil) != (idErr == nil) {
						t.Errorf("%s %s: %v in a sql.Null", c.column, c.value, nullErr)
					}
					for name, got := range map[string]struct {
						err  error
						id   objectid.ID
						want bool
					}{"ID": {idErr, id, c.id}, "Hex": {hexErr, hex.ID, c.hex}} {
						isID := strings.Contains("RAW DIGITS", c.value)
						switch {
						case !got.want && (!errors.Is(got.err, objectid.ErrInvalid) || got.id != objectid.ID{7}):
							t.Errorf("%s %s as %s: %v, left %v", c.column, c.value, name, got.err, got.id)
						case got.want && (got.err != nil || isID && got.id.String() != columnID):
							t.Errorf("%s %s as %s: %v, %v", c.column, c.value, name, got.id, got.err)
						}
					}
				}
			}
		})
	}
}

// Elements of an array reach Scan as bytes, whatever their type.
func TestPgxArrays(t *testing.T) {
	conn := testenv.Must(pgx.Connect(t.Context(), testenv.PostgresURL(t)))(t)
	defer conn.Close(t.Context())
	for array, want := range map[string]bool{
		"ARRAY['" + columnID + "']::text[]":         true,
		"ARRAY['\\x" + columnID + "']::bytea[]":     true,
		"ARRAY['Rheumatology']::text[]":             false,
		"ARRAY['Rheumatology']::varchar(12)[]":      false,
		"ARRAY['INV-20261128', '数据分析']::char(12)[]": false,
	} {
		var ids []objectid.ID
		err := conn.QueryRow(t.Context(), "SELECT "+array).Scan(&ids)
		if want && (err != nil || len(ids) != 1 || ids[0].String() != columnID) || !want && !errors.Is(err, objectid.ErrInvalid) {
			t.Errorf("%s: %v, %v", array, ids, err)
		}
	}
	var hex []objectid.Hex
	if err := conn.QueryRow(t.Context(), "SELECT ARRAY['kJ8sQz1-Pd3x']").Scan(&hex); !errors.Is(err, objectid.ErrInvalid) {
		t.Errorf("a token: %v, %v", hex, err)
	}
}
