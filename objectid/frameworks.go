package objectid

import (
	"errors"
	"fmt"
	"io"
	"net/url"
)

// The methods below are for packages that do not use the interfaces of package encoding.
// docs/how-to/ids-in-your-framework.md lists other packages and how to use ids with them.

// UnmarshalParam reads a parameter of a path, a query or a form as [Parse] does, for gin and
// echo.
func (id *ID) UnmarshalParam(s string) error { return id.Set(s) }

// UnmarshalFlag reads a flag as [Parse] does, for go-flags.
func (id *ID) UnmarshalFlag(s string) error { return id.Set(s) }

// EncodeValues adds the digits to v, or nothing for the zero ID, for google/go-querystring.
func (id ID) EncodeValues(key string, v *url.Values) error {
	if !id.IsZero() {
		v.Add(key, id.String())
	}
	return nil
}

// MarshalGQL writes what [ID.MarshalJSON] returns, for gqlgen.
func (id ID) MarshalGQL(w io.Writer) {
	b, _ := id.MarshalJSON()
	_, _ = w.Write(b)
}

// UnmarshalGQL reads a string as [Parse] does, or nil as the zero ID, for gqlgen.
func (id *ID) UnmarshalGQL(v any) error {
	switch v := v.(type) {
	case nil:
		*id = ID{}
		return nil
	case string:
		return id.Set(v)
	default:
		return fmt.Errorf("%w: GraphQL value of type %T, want a string of 24 digits, or null", ErrInvalid, v)
	}
}

// ImplementsGraphQLType reports whether an ID is a value of the GraphQL type, for
// graph-gophers/graphql-go: ID, String, or a scalar of your own.
func (ID) ImplementsGraphQLType(name string) bool {
	return name != "Int" && name != "Float" && name != "Boolean"
}

// UnmarshalGraphQL is [ID.UnmarshalGQL], for graph-gophers/graphql-go.
func (id *ID) UnmarshalGraphQL(v any) error { return id.UnmarshalGQL(v) }

// ProxyBSON returns an error for the MongoDB driver v1, which would store an ID as binary data.
// docs/migrate.md has a registry for that driver.
func (id ID) ProxyBSON() (any, error) {
	return nil, errors.New("objectid: the MongoDB driver v1 needs a registry for objectid.ID, see docs/migrate.md of github.com/oidkit/oid, or the driver v2")
}

// GetBSON returns an error for mgo, which would store an ID as binary data.
func (id ID) GetBSON() (any, error) {
	return nil, errors.New("objectid: mgo cannot store objectid.ID: convert it with bson.ObjectId(id.Bytes()), or use the MongoDB driver v2")
}

// GormDataType returns "string": GORM creates a text column.
func (Hex) GormDataType() string { return "string" }

// ToDB returns the raw bytes, or nil for the zero ID, for xorm, which would store JSON.
func (id ID) ToDB() ([]byte, error) {
	if id.IsZero() {
		return nil, nil
	}
	return id.MarshalBinary()
}

// FromDB reads a column as [ID.Scan] does, for xorm. Nil is NULL.
func (id *ID) FromDB(b []byte) error {
	if b == nil {
		return id.Scan(nil)
	}
	return id.Scan(b)
}

// ToDB returns the digits, or nil for the zero ID, for xorm.
func (h Hex) ToDB() ([]byte, error) {
	if h.IsZero() {
		return nil, nil
	}
	return h.MarshalText()
}

// FromDB reads a column as [Hex.Scan] does, for xorm. Nil is NULL.
func (h *Hex) FromDB(b []byte) error {
	if b == nil {
		return h.Scan(nil)
	}
	return h.Scan(b)
}
