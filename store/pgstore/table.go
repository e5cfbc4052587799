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
)

// maxIdentifier is the greatest length in bytes of a name in PostgreSQL.
const maxIdentifier = 63

// Names in the schema that begin with ^ and a digit are not those of collections,
// but for those with a nought.
const (
	escape      = "^0" // before a collection's name that begins with ^
	formatTable = "^1format"
	longName    = "^2" // before the digest and the beginning of a name that is too long
	keyIndex    = "^3"
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

// digest returns half of a name's SHA-256 as hexadecimal digits.
func digest(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}

// decodeName returns the collection whose table has the name and the comment; ok is
// false for tables that are not collections.
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

// Collections returns the names of the collections, see [engine.Database].
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

// format is the version of what this package keeps in a schema. A change that
// older versions of the package would not understand raises it.
const format = 1

// checkFormat returns an error if the schema holds something else than what this
// package can read. A schema that does not exist is fine; create reports it.
func (s *database) checkFormat(ctx context.Context, q querier) (exists bool, err error) {
	var ours, others bool
	err = q.QueryRow(ctx, `SELECT coalesce(bool_or(relname = $2), false), coalesce(bool_or(relname <> $2), false)
		FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1 AND relkind IN ('r', 'p', 'v', 'm', 'f')`, s.schema, formatTable).Scan(&ours, &others)
	switch {
	case err != nil:
		return false, err
	case others && !ours:
		return false, fmt.Errorf("schema %q holds tables of another program; name another with oid_schema=NAME in the URL", s.schema)
	case !ours:
		return false, nil
	}
	var version int
	if err := q.QueryRow(ctx, "SELECT version FROM "+s.qualified(formatTable)).Scan(&version); err != nil {
		return false, fmt.Errorf("read the version of the format of schema %q: %w", s.schema, err)
	}
	if version > format {
		return false, fmt.Errorf("schema %q has format %d, and this program knows formats up to %d; use a newer version of the program", s.schema, version, format)
	}
	return true, nil
}

// create creates the schema, if it does not exist, and the table of a collection.
// Processes that do so at once take turns.
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

// createSchema returns the statements that create the schema, if there is none, and the
// table of the format.
func (s *database) createSchema(ctx context.Context, tx pgx.Tx) (statements []string, err error) {
	var there bool
	err = tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", s.schema).Scan(&there)
	if !there { // asking for IF NOT EXISTS takes a right that is not needed then
		statements = []string{"CREATE SCHEMA " + pgx.Identifier{s.schema}.Sanitize()}
	}
	return append(statements,
		"CREATE TABLE "+s.qualified(formatTable)+" (version integer NOT NULL)",
		fmt.Sprintf("INSERT INTO %s VALUES (%d)", s.qualified(formatTable), format)), err
}
