package objectid_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/oidkit/oid/objectid"
)

// Generators of the Classic layout have one host and one pid: only their counters can
// differ.
func TestClassicGeneratorsOfOneProcess(t *testing.T) {
	withoutRace(t)
	for name, now := range map[string]func() time.Time{"system clock": nil, "a stopped clock": func() time.Time { return frozen }} {
		for range size(50, 200) {
			a := newGenerator(t, &objectid.Options{Layout: objectid.Classic, Now: now})
			b := newGenerator(t, &objectid.Options{Layout: objectid.Classic, Now: now})
			ids := make([]objectid.ID, 60_000)
			a.Fill(ids[:30_000])
			b.Fill(ids[30_000:])
			// Only where the counter comes round a later second is needed.
			if ahead := max(a.Lead(), b.Lead()); ahead > time.Second {
				t.Fatalf("%s: 60,000 ids lead the clock by %v", name, ahead)
			}
			slices.SortFunc(ids, objectid.ID.Compare)
			for i := 1; i < len(ids); i++ {
				if ids[i] == ids[i-1] {
					t.Fatalf("%s: two generators created %v", name, ids[i])
				}
			}
		}
	}
}

func TestNewAt(t *testing.T) {
	at := time.Date(2019, 5, 1, 12, 0, 0, 999, time.UTC)
	seen := map[objectid.ID]bool{}
	last := objectid.ID{}
	for i := range 1000 {
		id := objectid.NewAt(at)
		if seen[id] || !id.Time().Equal(at.Truncate(time.Second)) || i > 0 && id.Compare(last) <= 0 {
			t.Fatalf("%v (%v) after %v", id, id.Time(), last)
		}
		seen[id], last = true, id
	}
	if now, block := objectid.New(), [4]byte(last[4:]); [4]byte(now[4:]) == block || block == [4]byte{} {
		t.Errorf("NewAt has the process value of New or none: %v, %v", now, last)
	}
	for in, want := range map[int64]int64{-5: 0, 1 << 33: 1<<32 - 1} {
		if got := objectid.NewAt(time.Unix(in, 0)).Time().Unix(); got != want {
			t.Errorf("NewAt of second %d has second %d, want %d", in, got, want)
		}
	}
}

func TestValid(t *testing.T) {
	id := objectid.New()
	for _, s := range []string{id.String(), "507F1F77BCF86CD799439011", "", id.String()[1:], id.String() + "0", "507f1f77bcf86cd79943901g", "éééééééééééé"} {
		if _, err := objectid.Parse(s); objectid.Valid(s) != (err == nil) {
			t.Errorf("Valid(%q) = %v, Parse says %v", s, objectid.Valid(s), err)
		}
	}
	text := id.String()
	if n := testing.AllocsPerRun(100, func() { objectid.Valid(text); objectid.Valid(text[1:]) }); n != 0 {
		t.Errorf("Valid allocates %v times", n)
	}
	if b := id.Bytes(); string(b) != string(id[:]) {
		t.Errorf("Bytes() = %x", b)
	} else if b[0]++; b[0] == id[0] {
		t.Error("Bytes returns the id's own bytes")
	}
}

// With Block, Counter and Now, ids are the same in every run.
func ExampleOptions_counter() {
	block, counter := [4]byte{'t', 'e', 's', 't'}, uint32(1)
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	g, err := objectid.NewGenerator(&objectid.Options{
		Block:   &block,
		Counter: &counter,
		Now:     func() time.Time { at = at.Add(time.Second); return at },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.New())
	fmt.Println(g.New())
	// Output:
	// 6b0036417465737400000001
	// 6b0036427465737400000002
}
