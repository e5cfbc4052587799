package pgstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// maxIdentifier is the maximum length of a name in PostgreSQL, in bytes.
const maxIdentifier = 63

// Names in the schema that begin with ^ and a digit have a special meaning.
const (
	escape      = "^0"       // prefix for the name of a collection that begins with ^
	formatTable = "^1format" // the table with the version of the format
	longName    = "^2"       // prefix for the digest and the beginning of a name that is too long
	keyIndex    = "^3"       // prefix for the index of a primary key
)

// encodeName returns the name of the table of a collection.
func encodeName(collection string) string {
	name := collection
	if name[0] == '^' {
		name = escape + name
	}
	if len(name) <= maxIdentifier {
		return name
	}
	head := collection[:maxIdentifier-len(longName)-len(digest(collection))]
	for !utf8.ValidString(head) {
		head = head[:len(head)-1]
	}
	return longName + digest(collection) + head
}

// digest returns the first half of a name's SHA-256, as 32 hexadecimal digits.
func digest(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}

// decodeName returns the collection of the table with a name and a comment; ok is false if the
// table is not a collection.
func decodeName(name, comment string) (collection string, ok bool) {
	switch {
	case strings.HasPrefix(name, escape+"^"):
		return name[len(escape):], true
	case strings.HasPrefix(name, longName):
		return comment, comment != "" && encodeName(comment) == name
	}
	return name, name[0] != '^'
}

// table returns the qualified name of the table of a collection, in quotes.
func (s *database) table(collection string) string { return s.qualified(encodeName(collection)) }

func (s *database) qualified(name string) string { return pgx.Identifier{s.schema, name}.Sanitize() }

// Collections implements [engine.Database].
func (s *database) Collections(ctx context.Context) (names []string, err error) {
	err = s.do(ctx, func(c *pgx.Conn, _ bool) error {
		names = nil
		return query(ctx, c, func(values [][]byte) {
			if collection, ok := decodeName(string(values[0]), string(values[1])); ok {
				names = append(names, collection)
			}
		}, `SELECT relname::text, coalesce(obj_description(c.oid, 'pg_class'), '')
			FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1 AND relkind IN ('r', 'p')`, s.schema)
	})
	return names, err
}

// format is the version of the format of a schema. It must be increased by any change that older
// versions of this package would misread.
const format = 2

// checkFormat reports whether the schema was set up by this package. It returns an error if the
// schema contains only tables of another program, or has another format. It returns false and
// no error if the schema is empty or does not exist.
func (s *database) checkFormat(ctx context.Context, q querier) (exists bool, err error) {
	var ours, others bool
	err = q.QueryRow(ctx, `SELECT coalesce(bool_or(relname = $2), false), coalesce(bool_or(relname <> $2), false)
		FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1 AND relkind IN ('r', 'p', 'v', 'm', 'f')`, s.schema, formatTable).Scan(&ours, &others)
	switch {
	case err != nil:
		return false, err
	case others && !ours:
		return false, engine.Reworded(store.ErrForeign, "schema %q contains tables of another program; name another schema with oid_schema=NAME in the URL", s.schema)
	case !ours:
		return false, nil
	}
	var version int
	if err := q.QueryRow(ctx, "SELECT version FROM "+s.qualified(formatTable)).Scan(&version); err != nil {
		return false, fmt.Errorf("read the version of the format of schema %q: %w", s.schema, err)
	}
	if version != format {
		return false, fmt.Errorf("schema %q has format %d, but this program reads format %d; use the version of the program that wrote it, or name another schema with oid_schema=NAME in the URL", s.schema, version, format)
	}
	return true, nil
}

// create creates the table of a collection, and the schema if it does not exist. An advisory
// lock makes processes that do this at the same time wait for each other.
func (s *database) create(ctx context.Context, c *pgx.Conn, collection string) error {
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		h := fnv.New64a()
		h.Write([]byte("oid " + s.schema))
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(h.Sum64())); err != nil {
			return err
		}
		exists, err := s.checkFormat(ctx, tx)
		if err != nil {
			return err
		}
		var statements []string
		if !exists {
			if statements, err = s.createSchema(ctx, tx); err != nil {
				return err
			}
		}
		name := encodeName(collection)
		statements = append(statements,
			fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (_id bytea NOT NULL, doc bytea NOT NULL, call bigint NOT NULL, CONSTRAINT %s PRIMARY KEY (_id))",
				s.qualified(name), pgx.Identifier{keyIndex + digest(collection)}.Sanitize()))
		if strings.HasPrefix(name, longName) {
			statements = append(statements, "COMMENT ON TABLE "+s.qualified(name)+" IS '"+strings.ReplaceAll(collection, "'", "''")+"'")
		}
		for _, statement := range statements {
			if _, err := tx.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
		}
		return nil
	})
}

// createSchema returns the statements that create the format table, and the schema if it does not
// exist.
func (s *database) createSchema(ctx context.Context, tx pgx.Tx) (statements []string, err error) {
	var there bool
	err = tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", s.schema).Scan(&there)
	if !there { // CREATE SCHEMA IF NOT EXISTS needs the privilege even if the schema exists
		statements = []string{"CREATE SCHEMA " + pgx.Identifier{s.schema}.Sanitize()}
	}
	return append(statements,
		"CREATE TABLE "+s.qualified(formatTable)+" (version integer NOT NULL)",
		fmt.Sprintf("INSERT INTO %s VALUES (%d)", s.qualified(formatTable), format)), err
}
