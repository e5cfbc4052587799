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
		Long: `Print SQL statements that create functions, or macros, that decode ObjectIds in columns of
text (24 hexadecimal digits) and of 12 bytes:

  objectid_timestamp(id)             when the id was created, in UTC
  objectid_process(id)               its process value, 10 digits
  objectid_counter(id)               its counter, from 0 to 16777215
  objectid_hex(id)                   its 24 digits in lower case
  objectid_from_timestamp(time)      the first id of a second, as a bound for a
                                     column of text: fractions are dropped
  objectid_binary_from_timestamp(time)
                                     the same for a column of bytes

They are right from 1970 to 2106, and NULL for what is not an ObjectId. The conditions
of "oid range" need no functions.

--for chooses the engine:
  postgres    PostgreSQL 14 or later: text and bytea
  mysql       MySQL and MariaDB: text and BINARY(12)
  sqlite      a view TABLE_objectid of --table, because SQLite has no functions in SQL
  duckdb      DuckDB: VARCHAR and BLOB
  clickhouse  ClickHouse: String and FixedString(12)`,
		Example: `  oid sql --for postgres | psql
  oid sql --for sqlite --table orders --column _id | sqlite3 shop.db`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if engine == "" {
				return usagef("--for is missing: want one of %s", sqlEngines.names())
			}
			if needs := engine == "sqlite"; needs != (table != "") {
				return usagef("--for sqlite needs --table NAME, for whose view it prints a statement; the other engines take no --table")
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
	sqlEngines.addFlag(cmd, &engine, "for", "", "the `ENGINE`")
	cmd.Flags().StringVar(&table, "table", "", "name of the table, for SQLite")
	cmd.Flags().StringVar(&column, "column", "_id", "name of the column with the ids, for SQLite")
	return cmd
}

// doubled returns a name as it is between double quotes.
func doubled(name string) string { return strings.ReplaceAll(name, `"`, `""`) }
