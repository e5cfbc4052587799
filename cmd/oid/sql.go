package main

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// sqlEngines are the values of --for of oid sql, each with a file of functions.
var sqlEngines = stringForms([]string{"postgres", "mysql", "sqlite", "duckdb", "clickhouse"})

func newSQLCommand(std streams) *cobra.Command {
	var engine, table, column string
	cmd := &cobra.Command{
		Use:   "sql --for ENGINE",
		Short: "Print SQL functions that decode ids",
		Long: `Print SQL statements that create functions for ObjectIds. The functions take columns of
text (24 hexadecimal digits) and columns of 12 bytes:

  objectid_timestamp(id)             when the id was created, in UTC
  objectid_process(id)               its process value, 10 digits
  objectid_counter(id)               its counter, from 0 to 16777215
  objectid_hex(id)                   its 24 digits in lower case
  objectid_from_timestamp(time)      the smallest id of the second of time, as
                                     text, to compare with a column of text
  objectid_binary_from_timestamp(time)
                                     the smallest id of the second of time, as 12
                                     bytes, to compare with a column of bytes

Times are from 1970 to 2106. The result is NULL for a value that is not an ObjectId. The
conditions that "oid range" writes do not need these functions.

--for names the database engine:
  postgres    PostgreSQL 14 or later: text and bytea
  mysql       MySQL and MariaDB: text and BINARY(12)
  sqlite      SQLite: a view NAME_objectid of the table --table NAME, because SQLite
              cannot create functions in SQL
  duckdb      DuckDB: macros for VARCHAR and BLOB
  clickhouse  ClickHouse: String and FixedString(12)`,
		Example: `  oid sql --for postgres | psql
  oid sql --for sqlite --table orders --column _id | sqlite3 shop.db`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if engine == "" {
				return usagef("--for is missing: want one of %s", sqlEngines.names())
			}
			if engine == "sqlite" && table == "" {
				return usagef("--table is missing: --for sqlite prints a view of a table; write --table NAME")
			}
			if engine != "sqlite" && table != "" {
				return usagef("--table works only with --for sqlite; remove --table")
			}
			text, err := sqlFiles.ReadFile("sql/" + engine + ".sql")
			if err != nil {
				return err
			}
			quoted := strings.NewReplacer(`"TABLE`, `"`+doubled(table), `"COLUMN`, `"`+doubled(column))
			_, err = quoted.WriteString(std.out, string(text))
			return err
		},
	}
	sqlEngines.addFlag(cmd, &engine, "for", "", "database `ENGINE`")
	cmd.Flags().StringVar(&table, "table", "", "name of the table, for SQLite")
	cmd.Flags().StringVar(&column, "column", "_id", "name of the column with the ids, for SQLite")
	return cmd
}

// doubled doubles the double quotes in a name, as SQL writes them within quotes.
func doubled(name string) string { return strings.ReplaceAll(name, `"`, `""`) }
