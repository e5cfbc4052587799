package objectid_test

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/oidkit/oid/objectid"
)

// The interfaces of gin, echo, go-flags, gqlgen, go-querystring, the MongoDB driver v1 and mgo, and
// for GORM that of a type that names its column.
var (
	_ interface{ UnmarshalParam(param string) error } = (*objectid.ID)(nil)
	_ interface{ UnmarshalFlag(value string) error }  = (*objectid.ID)(nil)
	_ interface{ UnmarshalGQL(v any) error }          = (*objectid.ID)(nil)
	_ interface{ MarshalGQL(w io.Writer) }            = objectid.ID{}
	_ interface {
		ImplementsGraphQLType(name string) bool
		UnmarshalGraphQL(v any) error
	} = (*objectid.ID)(nil)
	_ interface {
		EncodeValues(key string, v *url.Values) error
	} = objectid.ID{}
	_ interface{ ProxyBSON() (any, error) }           = objectid.ID{}
	_ interface{ GetBSON() (any, error) }             = objectid.ID{}
	_ interface{ GormDataType() string }              = objectid.Hex{}
	_ interface{ UnmarshalParam(param string) error } = (*objectid.Hex)(nil)
	_ interface{ UnmarshalGQL(v any) error }          = (*objectid.Hex)(nil)
)

func TestFrameworksRead(t *testing.T) {
	id := objectid.MustParse(sample)
	for name, read := range map[string]func(*objectid.ID, string) error{
		"UnmarshalParam": (*objectid.ID).UnmarshalParam,
		"UnmarshalFlag":  (*objectid.ID).UnmarshalFlag,
		"UnmarshalGQL":   func(id *objectid.ID, s string) error { return id.UnmarshalGQL(s) },
	} {
		for _, s := range []string{sample, strings.ToUpper(sample)} {
			var got objectid.ID
			if err := read(&got, s); err != nil || got != id {
				t.Errorf("%s(%q) = %v, %v", name, s, got, err)
			}
		}
		for _, s := range []string{"", "Rheumatology", sample[1:], sample + "0", " " + sample, "null"} {
			got := id
			_, want := objectid.Parse(s)
			if err := read(&got, s); err == nil || err.Error() != want.Error() || got != id {
				t.Errorf("%s(%q): %v, left %v; want %v", name, s, err, got, want)
			}
		}
	}
}

func TestGraphQL(t *testing.T) {
	id := objectid.MustParse(sample)
	for _, c := range []struct {
		id   objectid.ID
		want string
	}{{id, `"` + sample + `"`}, {objectid.ID{}, "null"}} {
		var b bytes.Buffer
		if c.id.MarshalGQL(&b); b.String() != c.want {
			t.Errorf("%v is written as %s, want %s", c.id, &b, c.want)
		}
	}
	got := id
	if err := got.UnmarshalGQL(nil); err != nil || !got.IsZero() {
		t.Errorf("nil is read as %v, %v", got, err)
	}
	for _, v := range []any{1, int64(1), 1.5, []byte(sample), id[:], map[string]any{"$oid": sample}, true} {
		got := id
		err := got.UnmarshalGQL(v)
		if !errors.Is(err, objectid.ErrInvalid) || !strings.Contains(err.Error(), reflect.TypeOf(v).String()) || got != id {
			t.Errorf("%T: %v, left %v", v, err, got)
		}
	}
}

func TestEncodeValues(t *testing.T) {
	id := objectid.MustParse(sample)
	v := url.Values{"id": {"before"}}
	err := errors.Join(id.EncodeValues("id", &v), objectid.ID{}.EncodeValues("id", &v), objectid.ID{}.EncodeValues("none", &v))
	if want := (url.Values{"id": {"before", sample}}); err != nil || !reflect.DeepEqual(v, want) {
		t.Errorf("%v, %v; want %v", v, err, want)
	}
}

func TestGORMColumn(t *testing.T) {
	if got := (objectid.Hex{}).GormDataType(); got != "string" {
		t.Errorf("GORM is told %q", got)
	}
}

// What xorm stores and reads is what database/sql does.
func TestXorm(t *testing.T) {
	for _, id := range []objectid.ID{objectid.MustParse(sample), {}} {
		b, err := id.ToDB()
		value, _ := id.Value()
		text, textErr := objectid.Hex{ID: id}.ToDB()
		digits, _ := objectid.Hex{ID: id}.Value()
		if id.IsZero() {
			if b != nil || text != nil || err != nil || textErr != nil {
				t.Errorf("zero: %v, %v, %v, %v; want nil", b, err, text, textErr)
			}
		} else if err != nil || textErr != nil || string(b) != string(value.([]byte)) || string(text) != digits {
			t.Errorf("%v: %x, %v, %s, %v", id, b, err, text, textErr)
		}
		for _, column := range [][]byte{b, text} {
			got := objectid.MustParse("6b0a4b473a67cf7c3c4f1d15")
			if err := got.FromDB(column); err != nil || got != id {
				t.Errorf("FromDB(%x) = %v, %v; want %v", column, got, err, id)
			}
		}
	}
	if got := objectid.New(); got.FromDB([]byte("tea")) == nil {
		t.Error("FromDB reads tea")
	}
	if hex := (objectid.Hex{ID: objectid.New()}); hex.FromDB([]byte("kJ8sQz1-Pd3x")) == nil || hex.FromDB(nil) != nil || !hex.IsZero() {
		t.Errorf("FromDB of a Hex reads a token, or not NULL: %v", hex)
	}
}
