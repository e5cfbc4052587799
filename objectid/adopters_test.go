package objectid_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
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
			if ahead := max(a.Ahead(), b.Ahead()); ahead > time.Second {
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
	if objectid.Ahead() != 0 {
		t.Errorf("Ahead() = %v", objectid.Ahead())
	}
}

func TestOptional(t *testing.T) {
	id := objectid.New()
	var doc struct{ ID objectid.Optional }
	for text, want := range map[string]objectid.ID{
		`""`: {}, ` "" `: {}, "null": {}, `"` + id.String() + `"`: id, `{"$oid":"` + id.String() + `"}`: id,
	} {
		doc.ID.ID = objectid.MustParse("507f1f77bcf86cd799439011")
		if err := json.Unmarshal([]byte(`{"ID":`+text+`}`), &doc); err != nil || doc.ID.ID != want {
			t.Errorf("%s: %v, %v, want %v", text, doc.ID, err, want)
		}
	}
	for _, text := range []string{`" "`, `"x"`, "0", `{"$oid":""}`} {
		before := doc
		if err := json.Unmarshal([]byte(`{"ID":`+text+`}`), &doc); err == nil || doc != before {
			t.Errorf("%s: %v, %v", text, doc, err)
		}
	}
	if b, err := json.Marshal(objectid.Optional{ID: id}); err != nil || string(b) != `"`+id.String()+`"` {
		t.Errorf("%s, %v", b, err)
	}
	var o objectid.Optional
	for _, src := range []any{"", []byte{}, nil} {
		o.ID = id
		if err := o.Scan(src); err != nil || !o.IsZero() {
			t.Errorf("Scan(%q): %v, %v", src, o, err)
		}
	}
	if err := o.Scan(id[:]); err != nil || o.ID != id {
		t.Errorf("Scan(%x): %v, %v", id[:], o, err)
	}
	if err := o.UnmarshalText(nil); err != nil || !o.IsZero() {
		t.Errorf("empty text: %v, %v", o, err)
	}
	if err := o.UnmarshalText([]byte("x")); err == nil {
		t.Error("text x is read")
	}
}

func TestBSONString(t *testing.T) {
	id := objectid.New()
	typ, data, err := objectid.BSONString{ID: id}.MarshalBSONValue()
	if want := "\x19\x00\x00\x00" + id.String() + "\x00"; typ != 0x02 || string(data) != want || err != nil {
		t.Errorf("%#x %q %v, want a string %q", typ, data, err, want)
	}
	var s objectid.BSONString
	if err := s.UnmarshalBSONValue(typ, data); err != nil || s.ID != id {
		t.Errorf("read back as %v, %v", s, err)
	}
	for _, wrong := range []string{"", "\x19\x00\x00\x00", "\x18\x00\x00\x00" + id.String() + "\x00", "\x19\x00\x00\x00" + id.String() + "x", "\x01\x00\x00\x00\x00"} {
		if err := s.UnmarshalBSONValue(0x02, []byte(wrong)); err == nil || s.ID != id {
			t.Errorf("%q: %v, %v", wrong, s, err)
		}
	}
	if err := s.UnmarshalBSONValue(0x0A, nil); err != nil || !s.IsZero() {
		t.Errorf("null: %v, %v", s, err)
	}
	if err := s.UnmarshalBSONValue(0x07, id[:]); err != nil || s.ID != id {
		t.Errorf("an ObjectId: %v, %v", s, err)
	}
	if typ, data, err := (objectid.BSONString{}).MarshalBSONValue(); typ != 0x0A || data != nil || err != nil {
		t.Errorf("the zero ID: %#x %q %v", typ, data, err)
	}
}

// FuzzWrappers holds Optional to ID, but for empty text, and BSONString to what it
// writes.
func FuzzWrappers(f *testing.F) {
	f.Add([]byte(`""`), byte(2))
	f.Add([]byte("\x19\x00\x00\x00507f1f77bcf86cd799439011\x00"), byte(2))
	f.Add([]byte(`{"$oid":"507f1f77bcf86cd799439011"}`), byte(7))
	f.Fuzz(func(t *testing.T, data []byte, typ byte) {
		var id objectid.ID
		var o objectid.Optional
		idErr, err := id.UnmarshalJSON(data), o.UnmarshalJSON(data)
		if empty := string(bytes.TrimSpace(data)) == `""`; (err == nil) != (idErr == nil || empty) || o.ID != id {
			t.Errorf("%q: Optional %v, %v, ID %v, %v", data, o, err, id, idErr)
		}
		idErr, err = id.UnmarshalText(data), o.UnmarshalText(data)
		if (err == nil) != (idErr == nil || len(data) == 0) {
			t.Errorf("%q as text: Optional %v, ID %v", data, err, idErr)
		}
		var s objectid.BSONString
		if err := s.UnmarshalBSONValue(typ, data); err == nil && typ == 2 {
			if _, back, _ := s.MarshalBSONValue(); !s.IsZero() && !strings.EqualFold(string(back), string(data)) {
				t.Errorf("%q came back as %q", data, back)
			}
		} else if err != nil && (!s.IsZero() || !errors.Is(err, objectid.ErrInvalid)) {
			t.Errorf("%q: %v, %v", data, s, err)
		}
	})
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
