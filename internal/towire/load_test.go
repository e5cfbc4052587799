package towire_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

// The load of the API has the numbers of registry.LoadFields, each a pointer that is nil
// for what was not measured, and each number becomes the one of its name.
func TestLoadFieldsAreThoseOfTheAPI(t *testing.T) {
	var want []string
	for _, f := range registry.LoadFields() {
		want = append(want, f.Name)
	}
	var got []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[wire.Load]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		got = append(got, name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Fatalf("wire.Load in server/wire/processes.go has %v, registry.LoadFields() %v: both need each field", got, want)
	}
	none := towire.FromLoad(wire.Load{})
	if out := towire.Load(none); out != (wire.Load{}) {
		t.Errorf("a load of which nothing is known: %+v", out)
	}
	for i, f := range registry.LoadFields() {
		if *f.Of(&none) != registry.Unmeasured {
			t.Errorf("%s of an empty load is %d: FromLoad in processes.go does not know it", f.Name, *f.Of(&none))
		}
		one := none
		*f.Of(&one) = int64(i+1) * 1e9
		out := towire.Load(one)
		for _, field := range reflect.VisibleFields(reflect.TypeFor[wire.Load]()) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if set := !reflect.ValueOf(out).FieldByIndex(field.Index).IsNil(); set != (name == f.Name) {
				t.Errorf("of %s alone, %s is set: %v, by Load in processes.go", f.Name, name, set)
			}
		}
		if back := towire.FromLoad(out); back != one {
			t.Errorf("%s: %+v came back as %+v", f.Name, one, back)
		}
	}
}
