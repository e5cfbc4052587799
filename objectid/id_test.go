package objectid_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/objectid"
)

// vectors are ids with the times that MongoDB's own shell gives for them.
var vectors = []struct {
	hex  string
	time string
}{
	{"000000000000000000000000", "1970-01-01T00:00:00Z"},
	{"7fffffff0000000000000000", "2038-01-19T03:14:07Z"},
	{"800000000000000000000000", "2038-01-19T03:14:08Z"},
	{"ffffffffffffffffffffffff", "2106-02-07T06:28:15Z"},
	{"4e7020cb7cac81af7136236b", "2011-09-14T03:34:35Z"},
	{"5e4fa350b636f733a15d6f62", "2020-02-21T09:30:56Z"},
	{"4d88e15b60f486e428412dc9", "2011-03-22T17:50:19Z"},
	{"507f1f77bcf86cd799439011", "2012-10-17T21:13:27Z"},
}

func TestTime(t *testing.T) {
	for _, v := range vectors {
		got := objectid.MustParse(v.hex).Time()
		if got.Format(time.RFC3339Nano) != v.time || got.Location() != time.UTC {
			t.Errorf("MustParse(%q).Time() = %v, want %v", v.hex, got, v.time)
		}
	}
}

func TestCompareOrdersByTimeThenBytes(t *testing.T) {
	ids := []objectid.ID{
		{},
		objectid.MustParse("4d88e15b60f486e428412dc9"),
		objectid.MustParse("4d88e15b60f486e428412dca"),
		objectid.MustParse("7fffffff0000000000000000"),
		objectid.MustParse("800000000000000000000000"),
		objectid.MustParse("ffffffffffffffffffffffff"),
	}
	for i, a := range ids {
		for j, b := range ids {
			want := min(max(i-j, -1), 1)
			if got := a.Compare(b); got != want {
				t.Errorf("%v.Compare(%v) = %d, want %d", a, b, got, want)
			}
		}
	}
	if !slices.IsSortedFunc(ids, objectid.ID.Compare) {
		t.Error("ID.Compare does not suit slices.IsSortedFunc")
	}
}

func TestIsZero(t *testing.T) {
	if !(objectid.ID{}).IsZero() {
		t.Error("ID{}.IsZero() = false")
	}
	if (objectid.ID{11: 1}).IsZero() {
		t.Error("an ID with one bit set is zero")
	}
	if objectid.New().IsZero() {
		t.Error("New().IsZero() = true")
	}
}

// Whoever imports this package, or runs its tests, must get nothing else along.
func TestStandardLibraryOnly(t *testing.T) {
	needsProcesses(t)
	const self = "github.com/oidkit/oid/objectid"
	const format = "{{if not (or .Standard .ForTest)}}{{.ImportPath}}{{end}}"
	out, err := exec.Command("go", "list", "-deps", "-test", "-f", format, self).Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.FieldsSeq(string(out)) {
		if dep != self && dep != self+".test" {
			t.Errorf("depends on %s", dep)
		}
	}
}

func TestAllocations(t *testing.T) {
	id := objectid.New()
	text, buf, ids := id.String(), make([]byte, 0, 64), make([]objectid.ID, 100)
	raw := []byte(text)
	for _, c := range []struct {
		name string
		want float64
		f    func()
	}{
		{"New", 0, func() { id = objectid.New() }},
		{"Fill", 0, func() { objectid.Fill(ids) }},
		{"Parse", 0, func() { id, _ = objectid.Parse(text) }},
		{"UnmarshalText", 0, func() { _ = id.UnmarshalText(raw) }},
		{"AppendText", 0, func() { buf, _ = id.AppendText(buf[:0]) }},
		{"AppendBinary", 0, func() { buf, _ = id.AppendBinary(buf[:0]) }},
		{"String", 1, func() { text = id.String() }},
	} {
		if got := testing.AllocsPerRun(100, c.f); got != c.want {
			t.Errorf("%s: %v allocations, want %v", c.name, got, c.want)
		}
	}
}
