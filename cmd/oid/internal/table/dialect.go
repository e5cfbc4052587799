package table

import (
	"bufio"
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the database/sql driver "sqlite"
)

// dialect is what differs between kinds of databases.
type dialect struct {
	name    string
	schemes []string // of URLs
	quote   string   // around identifiers

	language string // of "oid range", for columns of bytes

	// open returns the database of a URL, to which it does not connect yet, and where it is.
	open func(url string) (db *sql.DB, at string, err error)

	// tables is a query for the schema and the name of each table, and whether the name
	// alone finds it. columns is a query for the name and the type of each column of the
	// table with the two arguments schema and name, and whether it is the primary key.
	tables, columns string

	// estimate is a query for the plan of reading a table, %s, or for its estimated number of rows.
	estimate string

	// loose is whether a column contains values of any type, whatever its own type is.
	loose bool
}

var dialects = []dialect{
	{
		name: "SQLite", schemes: []string{"sqlite"}, quote: `"`, language: "sql", open: openSQLite, loose: true,
		tables: `SELECT '', name, true FROM sqlite_schema, pragma_application_id
			WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND application_id <> 0x6F696431 ORDER BY name`,
		columns: `SELECT name, type, pk > 0 AND (SELECT sum(pk > 0) = 1 FROM pragma_table_xinfo(?2)) FROM pragma_table_xinfo(?2)
			WHERE ?1 = '' AND hidden <> 1 ORDER BY cid`,
		estimate: "SELECT 'rows=' || max(rowid) FROM %s",
	},
	{
		name: "PostgreSQL", schemes: []string{"postgres", "postgresql"}, quote: `"`, language: "postgres", open: openPostgres,
		tables: `SELECT nspname, relname, pg_table_is_visible(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
			WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND nspname NOT LIKE 'pg\_%' AND nspname <> 'information_schema'
			AND NOT EXISTS (SELECT FROM pg_class f WHERE f.relnamespace = n.oid AND f.relname = '^1format') ORDER BY 1, 2`,
		columns: `SELECT attname, format_type(coalesce(nullif(typbasetype, 0), atttypid), atttypmod), EXISTS (SELECT FROM pg_index i WHERE i.indrelid = a.attrelid AND indisprimary AND indnkeyatts = 1 AND indkey[0] = attnum)
			FROM pg_attribute a JOIN pg_type t ON t.oid = atttypid JOIN pg_class c ON c.oid = attrelid JOIN pg_namespace n ON n.oid = relnamespace
			WHERE nspname = $1 AND relname = $2 AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
		estimate: "EXPLAIN SELECT FROM %s",
	},
	{
		name: "MySQL", schemes: []string{"mysql", "mariadb"}, quote: "`", language: "sql", open: openMySQL,
		tables: `SELECT table_schema, table_name, coalesce(table_schema = database(), false) FROM information_schema.tables
			WHERE table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys') AND table_type <> 'SEQUENCE' ORDER BY 1, 2`,
		columns: `SELECT column_name, column_type, column_key = 'PRI' AND (SELECT count(*) = 1 FROM information_schema.columns k
			WHERE k.table_schema = c.table_schema AND k.table_name = c.table_name AND k.column_key = 'PRI')
			FROM information_schema.columns c WHERE table_schema = ? AND table_name = ? ORDER BY ordinal_position`,
		estimate: "EXPLAIN FORMAT=JSON SELECT 1 FROM %s",
	},
}

// dialectOf returns the dialect of a URL, or nil.
func dialectOf(url string) *dialect {
	scheme, _, found := strings.Cut(url, ":")
	i := slices.IndexFunc(dialects, func(d dialect) bool { return found && slices.Contains(d.schemes, scheme) })
	if i < 0 {
		return nil
	}
	return &dialects[i]
}

// IsURL reports whether url names a database whose tables can be read.
func IsURL(url string) bool { return dialectOf(url) != nil }

// connectTimeout is how long connecting to a server may take if the URL does not say it.
const connectTimeout = 5 * time.Second

// FilePath returns the path in a URL of a file with this scheme. On Windows, the path in
// sqlite:///C:/data/oid.db is C:/data/oid.db.
func FilePath(scheme, url string) string {
	path := strings.TrimPrefix(url, scheme+":")
	if local := strings.TrimLeft(path, "/"); filepath.VolumeName(local) != "" {
		return local
	}
	return path
}

// openSQLite opens a file for reading. The file may be in use by other programs.
func openSQLite(uri string) (*sql.DB, string, error) {
	path := FilePath("sqlite", uri)
	if _, err := os.Stat(path); err != nil {
		return nil, path, err
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(10000)", "query_only(1)"}}.Encode()}
	db, err := sql.Open("sqlite", u.String())
	return db, path, err
}

// readBuffer is how much is read from a PostgreSQL server at once, in bytes.
const readBuffer = 64 << 10

func openPostgres(uri string) (*sql.DB, string, error) {
	config, err := pgx.ParseConfig(uri)
	if err != nil {
		return nil, "", err // without the password
	}
	delete(config.RuntimeParams, "oid_schema")
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "oid"
	}
	if config.ConnectTimeout == 0 || !strings.Contains(uri, "connect_timeout=") {
		config.ConnectTimeout = connectTimeout
	}
	config.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		return pgproto3.NewFrontend(bufio.NewReaderSize(r, readBuffer), w)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe // poolers may lend another connection to each transaction
	return stdlib.OpenDB(*config), fmt.Sprintf("%s:%d", config.Host, config.Port), nil
}

func openMySQL(uri string) (*sql.DB, string, error) {
	c, err := mysqlConfig(uri)
	if err != nil {
		return nil, "", fmt.Errorf("invalid URL: %w", err) // of parameters, without the password
	}
	connector, err := mysql.NewConnector(c)
	return sql.OpenDB(connector), c.Addr, err
}

// mysqlConfig returns what a URL says. Its parameters are those of the driver; socket is the path
// of a Unix socket.
func mysqlConfig(uri string) (*mysql.Config, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Host == "" && !u.Query().Has("socket") {
		return nil, errors.New("write mysql://USER:PASSWORD@HOST:PORT/DATABASE#TABLE, with % and two hexadecimal digits for special characters of the password")
	}
	query, at := u.Query(), "tcp("+u.Host+")"
	if socket := query.Get("socket"); socket != "" {
		at = "unix(" + socket + ")"
	} else if !query.Has("tls") {
		query.Set("tls", "preferred") // as the clients of MySQL do
	}
	query.Del("socket")
	c, err := mysql.ParseDSN(at + "/?" + query.Encode())
	if err != nil {
		return nil, err
	}
	password, given := u.User.Password()
	if !given {
		password = os.Getenv("MYSQL_PWD")
	}
	c.User, c.Passwd, c.DBName, c.Timeout = u.User.Username(), password, strings.TrimPrefix(u.Path, "/"), cmp.Or(c.Timeout, connectTimeout)
	return c, nil
}
