package registry

import (
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/otelresource"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store/memstore"
)

// An agent describes a process, and passes all of it on as options.
func TestRemoteOptionsOf(t *testing.T) {
	p, err := Describe(&AdoptOptions{PID: os.Getpid(), RegisterOptions: RegisterOptions{Addr: "10.0.0.7:8080", Name: "shop", Version: "v1", Labels: map[string]string{"team": "orders"}}})
	if err != nil {
		t.Fatal(err)
	}
	o := RemoteOptionsOf(&p)
	var got Process
	if err := o.describe(&got); err != nil {
		t.Fatal(err)
	}
	// The GPID is passed beside the options, and the member is that of the registration. The
	// others are of the agent and not of the process.
	others := []string{"GPID", "Member", "Network", "Registered"}
	from, to := reflect.ValueOf(p), reflect.ValueOf(got)
	for _, f := range reflect.VisibleFields(from.Type()) {
		if !f.IsExported() || slices.Contains(others, f.Name) {
			continue
		}
		if a, b := from.FieldByIndex(f.Index).Interface(), to.FieldByIndex(f.Index).Interface(); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %v became %v: see RemoteOptionsOf and describe in description.go", f.Name, a, b)
		}
	}
	if o.Name != "shop" || o.Labels["team"] != "orders" || o.Kernel == (gpid.Process{}) || o.Program == 0 || o.Executable == "" {
		t.Errorf("%+v lacks something of %+v", o, p)
	}
}

// The same labels, names and versions are refused with the same words on all ways by which a
// process is recorded.
func TestDescriptionsEverywhere(t *testing.T) {
	many := map[string]string{}
	for i := range otelresource.MaxLabels + 1 {
		many[strings.Repeat("x", i+1)] = ""
	}
	g, err := gpid.Self("10.0.0.7:8080")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, version string
		labels        map[string]string
		want          string // "" if it is accepted
	}{
		{"shop", "v1", map[string]string{"team": "orders", "größe": "日本語", "empty": ""}, ""},
		{"shop", "v1", map[string]string{strings.Repeat("n", 100): strings.Repeat("v", 200)}, ""},
		{"shop\n", "", nil, "the name has U+000A at offset 4, want printable characters"},
		{"shop\xff", "", nil, "the name has U+FFFD at offset 4, want printable characters"},
		{"", "", map[string]string{"a": "b\xff"}, `the value of the label "a" has U+FFFD at offset 1, want printable characters`},
		{"shop", "v\x00", nil, "the version has U+0000 at offset 1, want printable characters"},
		{"", "", map[string]string{"b": "ok", "c": "x\ny", "d": "\n"}, `the value of the label "c" has U+000A at offset 1, want printable characters`},
		{"", "", map[string]string{"te\u200bam": ""}, `the name of the label "te\u200bam" has U+200B at offset 2, want printable characters`},
		{"", "", map[string]string{"": "x"}, `label "": want a name of 1 to 100 bytes and a value of up to 200`},
		{"", "", map[string]string{"a": strings.Repeat("v", 201)}, `label "a": want a name of 1 to 100 bytes and a value of up to 200`},
		{"", "", map[string]string{strings.Repeat("n", 101): ""}, `label "` + strings.Repeat("n", 50) + `": want a name of 1 to 100 bytes and a value of up to 200`},
		{"", "", many, "51 labels, want up to 50"},
	} {
		r := New(memstore.New(), nil)
		end := func(m *Member, err error) error {
			if err == nil {
				err = m.End(t.Context(), "done")
			}
			return err
		}
		ids := []objectid.ID{objectid.New()}
		remote := &RemoteOptions{Name: c.name, Version: c.version, Labels: c.labels}
		adopted := &AdoptOptions{RegisterOptions: RegisterOptions{Name: c.name, Version: c.version, Labels: c.labels}}
		errs := map[string]error{
			"Register": end(r.Register(t.Context(), &RegisterOptions{Name: c.name, Version: c.version, Labels: c.labels})),
			"Adopt":    end(r.Adopt(t.Context(), ids, adopted)),
		}
		_, errs["RegisterRemote"] = r.RegisterRemote(t.Context(), g, remote)
		_, errs["AdoptRemote"] = r.AdoptRemote(t.Context(), g, []objectid.ID{objectid.New()}, objectid.Modern, remote)
		adopted.PID = os.Getpid()
		_, errs["Describe"] = Describe(adopted)
		for way, err := range errs {
			var collision *CollisionError
			if errors.As(err, &collision) {
				err = nil // with those that were recorded before
			}
			if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrDescription) || !strings.HasSuffix(err.Error(), ": "+c.want)) {
				t.Errorf("%s of %q, %q, %q: %v, want %q", way, c.name, c.version, c.labels, err, c.want)
			}
		}
	}
}

// The name of a program can be anything, and does not keep its process from being recorded.
func TestNameOfAProgram(t *testing.T) {
	if got := printable("sh\x00op\xff\n日"); got != "sh?op??日" {
		t.Errorf("%q", got)
	}
}
