package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/rs/xid"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

// docs/migrate.md names every method of the types that people move from, and only
// methods that objectid.ID has.
func TestMigrateNamesEveryMethod(t *testing.T) {
	text := testenv.Must(os.ReadFile("../../docs/migrate.md"))(t)
	_, page, _ := strings.Cut(string(text), "## From bson.ObjectID")
	ofBSON, ofXID, _ := strings.Cut(page, "## From rs/xid")
	ofXID, _, _ = strings.Cut(ofXID, "## From mgo")
	for section, of := range map[string]reflect.Type{ofBSON: reflect.TypeFor[*bson.ObjectID](), ofXID: reflect.TypeFor[*xid.ID]()} {
		for method := range of.Methods() {
			if name := method.Name; !strings.Contains(section, "`"+name+"`") && !strings.Contains(section, "`"+name+",") {
				t.Errorf("docs/migrate.md does not name %v.%s", of, name)
			}
		}
	}
	own := reflect.TypeFor[*objectid.ID]()
	for _, name := range []string{"IsZero", "String", "Time", "MarshalText", "UnmarshalText", "MarshalJSON", "UnmarshalJSON", "AppendText", "Bytes", "Compare", "Value", "Scan"} {
		if _, ok := own.MethodByName(name); !ok {
			t.Errorf("docs/migrate.md names ID.%s, which does not exist", name)
		}
	}
}

// readmes are the libraries whose READMEs the page answers, with the name by which each
// calls an id or itself, and how many things it shows.
var readmes = []struct {
	module, shown string
	things        int
}{
	{"github.com/oklog/ulid/v2", `\b(ulid\.[A-Z]\w*)`, 6},
	{"github.com/rs/xid", `\b((?:xid|guid)\.[A-Z]\w*)`, 6},
	{"github.com/oklog/ulid/v2", `(?m)^ -., (--(?:format|local|quick|zero))`, 4},
	{"github.com/google/uuid", `package (generates) and (?:inspects) UUIDs`, 1},
	{"github.com/google/uuid", `package (?:generates) and (inspects) UUIDs`, 1},
}

// All that the READMEs of ulid, xid and google/uuid show has its row.
func TestMigrateAnswersREADMEs(t *testing.T) {
	text := testenv.Must(os.ReadFile("../../docs/migrate.md"))(t)
	_, section, found := strings.Cut(string(text), "## What ulid, xid and google/uuid show in their READMEs")
	section, _, _ = strings.Cut(section, "\n## ")
	if !found {
		t.Fatal("docs/migrate.md has no such section")
	}
	for _, r := range readmes {
		dir := testenv.Must(exec.Command("go", "list", "-m", "-f", "{{.Dir}}", r.module).Output())(t)
		readme := testenv.Must(os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "README.md")))(t)
		things := map[string]bool{}
		for _, m := range regexp.MustCompile(r.shown).FindAllStringSubmatch(string(readme), -1) {
			things[m[1]] = true
			if !regexp.MustCompile(regexp.QuoteMeta(m[1]) + `\b`).MatchString(section) {
				t.Errorf("docs/migrate.md does not answer %s of %s", m[1], r.module)
			}
		}
		if len(things) != r.things {
			t.Errorf("the README of %s shows %d things, want %d: %v", r.module, len(things), r.things, things)
		}
	}
}

// The conversions that the page describes.
func TestMigrateConverts(t *testing.T) {
	id := objectid.New()
	if bson.ObjectID(id).Hex() != id.String() || objectid.ID(bson.ObjectID(id)) != id {
		t.Error("bson.ObjectID")
	}
	x := xid.New()
	if got := objectid.ID(x); string(got.Bytes()) != string(x.Bytes()) || got.Time().Unix() != x.Time().Unix() {
		t.Error("xid.ID")
	}
}
