// Package schema has the tables of ent.
package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect"
	"entgo.io/ent/schema/field"

	"github.com/oidkit/oid/objectid"
)

// Order is a table with ids.
type Order struct{ ent.Schema }

// Binary is the type of the columns.
var binary = map[string]string{dialect.Postgres: "bytea", dialect.MySQL: "binary(12)", dialect.SQLite: "blob"}

// Fields returns the columns.
func (Order) Fields() []ent.Field {
	return []ent.Field{
		field.Bytes("id").GoType(objectid.ID{}).DefaultFunc(objectid.New).SchemaType(binary),
		field.Bytes("parent").GoType(objectid.ID{}).Optional().SchemaType(binary),
		field.String("text").GoType(objectid.Hex{}),
	}
}
