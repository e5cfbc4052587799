package census_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/census/source"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

func save(t testing.TB, c *census.Census) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := c.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// savedSources matches the saved censuses among the sources of a report.
var savedSources = regexp.MustCompile(`(?s)\n *\{\n *"name": "saved [^{}]*\},?`)

// TestMergedEqualsOnePass saves censuses of parts of ids, some of them with little
// memory and some of them again merged, and counts the files.
func TestMergedEqualsOnePass(t *testing.T) {
	testenv.Long(t, "counts a million ids")
	t.Parallel()
	for seed := range testenv.Seeds(5) {
		random := rand.New(rand.NewPCG(seed, 2))
		sources := parts(random, crowd(random, 20_000+random.IntN(int(testenv.Seeds(150_000)))))
		o := census.Options{Now: time.Unix(1_700_000_000, 0)}
		want := told(t, readParts(t, &o, sources))
		var files []part
		for len(sources) > 0 {
			n := 1 + random.IntN(len(sources))
			part := o
			part.Memory = int64(random.IntN(2)) // 0 is the default, 1 as little as possible
			data := save(t, readParts(t, &part, sources[:n]))
			files = append(files, pair(fmt.Sprintf("saved %d", len(files)), data))
			sources = sources[n:]
		}
		merged := o
		merged.Memory = int64(random.IntN(2))
		c := readParts(t, &merged, files)
		if got := savedSources.ReplaceAllString(told(t, c), ""); got != want {
			t.Errorf("seed %d, %d files: %s", seed, len(files), differ(got, want))
		}
		again := readParts(t, &o, []part{pair("saved again", save(t, c))})
		if got := savedSources.ReplaceAllString(told(t, again), ""); got != want {
			t.Errorf("seed %d, saved again: %s", seed, differ(got, want))
		}
	}
}

func pair(name string, data []byte) part { return part{name: name, data: data} }

// TestSavedSize holds how many bytes an id takes.
func TestSavedSize(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	const n = 200_000
	random := rand.New(rand.NewPCG(1, 1))
	for name, test := range map[string]struct {
		id   func(i uint32) objectid.ID
		most float64
	}{
		"one process, each id in the data": {func(i uint32) objectid.ID { return idOf(1_600_000_000+i/100, 5, i) }, 2.1},
		"eight processes in turn":          {func(i uint32) objectid.ID { return idOf(1_600_000_000+i/100, uint64(i%8), i/8) }, 2.1},
		"fifty, of which others have most ids": {func(i uint32) objectid.ID {
			return idOf(1_600_000_000+i/3, uint64(random.IntN(50)), (i*40+random.Uint32N(300))&0xFFFFFF)
		}, 5},
		"a process value for each": {func(i uint32) objectid.ID { return idOf(1_600_000_000+i, random.Uint64()>>24, random.Uint32()>>8) }, 16},
	} {
		var ids []objectid.ID
		for i := range uint32(n) {
			ids = append(ids, test.id(i))
		}
		data := save(t, readParts(t, nil, []part{pair("all", listOf(ids, false))}))
		if got := float64(len(data)) / n; got > test.most {
			t.Errorf("%s: %.2f bytes an id, want %.1f at most", name, got, test.most)
		}
	}
}

// TestSavedWithOptions counts a saved census within a range, with a limit, and of another field.
func TestSavedWithOptions(t *testing.T) {
	data := save(t, readParts(t, nil, []part{pair("all", listOf([]objectid.ID{idOf(1_600_000_000, 1, 1), idOf(1_600_000_009, 1, 2), idOf(1_600_000_019, 1, 3)}, false))}))
	within := objectid.Range{From: idOf(1_600_000_005, 0, 0), To: idOf(1_600_000_015, 0, 0)}
	for name, test := range map[string]struct {
		o            census.Options
		ids, outside int64
		err          error
	}{
		"all":                {census.Options{}, 3, 0, nil},
		"a range":            {census.Options{Range: within}, 1, 2, nil},
		"as many as allowed": {census.Options{MaxIDs: 3}, 3, 0, nil},
		"one more":           {census.Options{MaxIDs: 2}, 0, 0, census.ErrLimit},
		"another field":      {census.Options{Field: "customer"}, 0, 0, census.ErrSaved},
	} {
		c := census.New(&test.o)
		err := c.Read(t.Context(), "saved", bytes.NewReader(data))
		r, reportErr := c.Report(nil)
		if reportErr != nil {
			t.Fatal(reportErr)
		}
		if !errors.Is(err, test.err) || r.IDs != test.ids || r.Outside != test.outside {
			t.Errorf("%s: %d ids, %d outside, %v, want %d, %d, %v", name, r.IDs, r.Outside, err, test.ids, test.outside, test.err)
		}
	}
}

// TestSavedTogether holds what saved censuses say beside their ids: how many were outside
// of the range, those that are strings too, and which ids came late.
func TestSavedTogether(t *testing.T) {
	ids := func(seconds ...uint32) (all []objectid.ID) {
		for _, s := range seconds {
			all = append(all, idOf(1_600_000_000+s, 1, s))
		}
		return all
	}
	// Ids that are late come after sixteen others.
	late := func(first uint32, after ...uint32) []objectid.ID {
		var all []objectid.ID
		for i := range uint32(16) {
			all = append(all, ids(first+i)...)
		}
		return append(all, ids(after...)...)
	}
	o := census.Options{Now: time.Unix(1_700_000_000, 0), Range: objectid.Range{From: ids(100)[0], To: ids(10_000)[0]}}
	sources := []part{
		pair("a", listOf(ids(1, 100, 101), false)),
		pair("b", listOf(ids(2, 3, 102), false)),
		{"strings", "users", listOf(ids(4, 5, 6, 7), true)},
		pair("late", listOf(late(5000, 200, 201), false)),
		{"late strings", "users", listOf(late(7000, 300, 301), true)},
		pair("less late", listOf(late(6000, 5202), false)),
	}
	var files []part
	for i := range sources {
		files = append(files, pair("saved "+sources[i].name, save(t, readParts(t, &o, sources[i:i+1]))))
	}
	want := told(t, readParts(t, &o, sources))
	together := readParts(t, &o, files)
	for name, c := range map[string]*census.Census{"together": together, "saved again": readParts(t, &o, []part{pair("saved again", save(t, together))})} {
		if got := savedSources.ReplaceAllString(told(t, c), ""); got != want {
			t.Errorf("%s: %s", name, differ(got, want))
		}
	}
	for _, text := range []string{`"outside_ids": 3`, `"outside_ids": 4`, "3 ids come after others", "2 ids come after others"} {
		if !strings.Contains(want, text) {
			t.Errorf("the sources have no ids outside or late: no %s", text)
		}
	}
}

// TestSavedInOneStream reads saved censuses as cat joins them.
func TestSavedInOneStream(t *testing.T) {
	ids := []objectid.ID{idOf(1_600_000_000, 1, 1), idOf(1_600_000_000, 1, 2), idOf(1_600_000_000, 1, 3)}
	a := save(t, readParts(t, nil, []part{pair("a", listOf(ids[:1], false))}))
	b := save(t, readParts(t, nil, []part{pair("b", listOf(ids[1:], false))}))
	broken := errors.New("the disk fails")
	for name, test := range map[string]struct {
		in   io.Reader
		ids  int64
		err  error
		text string // of the error
	}{
		"two":                 {bytes.NewReader(slices.Concat(a, b)), 3, nil, ""},
		"two and a line":      {bytes.NewReader(slices.Concat(a, b, []byte("and so forth\n"))), 3, census.ErrSaved, "what follows"},
		"two and a byte":      {bytes.NewReader(slices.Concat(a, b, a[:1])), 3, census.ErrSaved, "what follows"},
		"one and a half":      {bytes.NewReader(slices.Concat(a, b[:len(b)/2])), 1, census.ErrSaved, "cut off"},
		"one, then a failure": {io.MultiReader(bytes.NewReader(a), iotest.ErrReader(broken)), 1, broken, "disk"},
	} {
		c := census.New(nil)
		err := c.Read(t.Context(), "saved", test.in)
		r, reportErr := c.Report(nil)
		if reportErr != nil {
			t.Fatal(reportErr)
		}
		if !errors.Is(err, test.err) || err != nil && !strings.Contains(err.Error(), test.text) || r.IDs != test.ids {
			t.Errorf("%s: %d ids, %v, want %d, %v", name, r.IDs, err, test.ids, test.err)
		}
		if name == "two" && (len(r.Sources) != 3 || r.Sources[0].Collections != 2 || r.Sources[1].Name != "a" || r.Sources[2].Name != "b") {
			t.Errorf("two: %d sources", len(r.Sources))
		}
	}
}

// TestDamagedSaved reads saved censuses that are cut off or changed.
func TestDamagedSaved(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	good := save(t, readParts(t, nil, parts(random, crowd(random, 3000))))
	read := func(data []byte) error { return census.New(nil).Read(t.Context(), "saved", bytes.NewReader(data)) }
	if err := read(good); err != nil {
		t.Fatal(err)
	}
	for cut := range good {
		if cut%997 == 0 || cut < 20 || cut > len(good)-20 {
			if err := read(good[:cut]); err == nil {
				t.Errorf("cut after %d bytes of %d: no error", cut, len(good))
			}
		}
	}
	for at := len(source.SavedMagic); at < len(good); at += 1 + at%531 {
		data := bytes.Clone(good)
		data[at] ^= 1 << (at % 8)
		if err := read(data); err == nil {
			t.Errorf("with another bit at %d of %d: no error", at, len(good))
		}
	}
	if err := read(append([]byte(source.SavedMagic[:len(source.SavedMagic)-1]), 2)); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("another version: %v", err)
	}
}

// frame is a part of a saved census.
type frame struct {
	kind    byte
	payload string
}

// framesOf returns a saved census of these parts, with right checksums.
func framesOf(frames ...frame) []byte {
	b := []byte(source.SavedMagic)
	for _, f := range frames {
		head := append(binary.LittleEndian.AppendUint32([]byte{f.kind}, uint32(len(f.payload))), f.payload...)
		b = append(b, binary.LittleEndian.AppendUint32(head, crc32.Checksum(head, crc32.MakeTable(crc32.Castagnoli)))...)
	}
	return b
}

// framed returns a saved census with this description and these ids.
func framed(meta, ids []byte) []byte {
	return framesOf(frame{'m', string(meta)}, frame{'i', string(ids)}, frame{'e', ""})
}

// TestCraftedSaved reads saved censuses with right checksums whose numbers cannot be.
func TestCraftedSaved(t *testing.T) {
	const head, collections = `{"field":"_id","places":3,"sources":[{"name":"a","unit":"line"}]`, `,"collections":[{"name":""}]}`
	const spans = `,"spans":[{"place":0,"source":0,"number":0}]`
	const good = head + spans + collections
	const id, at = "\x00\x01\xFF\x01\x00\x00\x00\x01\x00\x00\x01", "\x04"
	meta := func(text string) []byte { return framed([]byte(text), []byte(id+at)) }
	ids := func(text string) []byte { return framed([]byte(good), []byte(text)) }
	for name, test := range map[string]struct {
		data []byte
		want string // of the error
	}{
		"good":                        {meta(good), ""},
		"nothing after the beginning": {framesOf(), "cut off"},
		"no end":                      {framesOf(frame{'m', good}, frame{'i', id + at}), "cut off"},
		"ids first":                   {framesOf(frame{'i', id + at}, frame{'e', ""}), "description"},
		"another kind":                {framesOf(frame{'m', good}, frame{'x', ""}, frame{'e', ""}), `kind 'x'`},
		"two descriptions":            {framesOf(frame{'m', good}, frame{'m', good}, frame{'e', ""}), `kind 'm'`},
		"no JSON":                     {meta("{"), "JSON"},
		"a source before the first":   {meta(head + `,"spans":[{"place":0,"source":-1,"number":0}]` + collections), "stretch"},
		"a source after the last":     {meta(head + `,"spans":[{"place":0,"source":1,"number":0}]` + collections), "stretch"},
		"a negative number":           {meta(head + `,"spans":[{"place":0,"source":0,"number":-1}]` + collections), "stretch"},
		"a first place after 0":       {meta(head + `,"spans":[{"place":1,"source":0,"number":0}]` + collections), "stretch"},
		"a place twice":               {meta(head + `,"spans":[{"place":0,"source":0,"number":0},{"place":0,"source":0,"number":1}]` + collections), "stretch"},
		"the last place":              {meta(head + `,"spans":[{"place":0,"source":0,"number":0},{"place":2,"source":0,"number":1}]` + collections), ""},
		"a place after the last":      {meta(head + `,"spans":[{"place":0,"source":0,"number":0},{"place":3,"source":0,"number":1}]` + collections), "3 places"},
		"places without stretches":    {meta(head + collections), "3 places"},
		"late ids behind the places":  {meta(head + spans + `,"collections":[{"name":"","late":{"count":1,"latest":{"Hi":0,"Lo":3}}}]}`), "late"},
		"late strings behind them":    {meta(head + spans + `,"collections":[{"name":"","strings_late":{"count":1,"latest":{"Hi":0,"Lo":3}}}]}`), "late"},
		"a late example behind them":  {meta(head + spans + `,"collections":[{"name":"","late":{"count":1,"latest":{"Hi":0,"Lo":2},"examples":[{"Hi":0,"Lo":3}]}}]}`), "late"},
		"more examples than ids":      {meta(head + spans + `,"collections":[{"name":"","late":{"count":1,"latest":{"Hi":0,"Lo":2},"examples":[{"Hi":0,"Lo":1},{"Hi":0,"Lo":2}]}}]}`), "late"},
		"late ids":                    {meta(head + spans + `,"collections":[{"name":"","late":{"count":1,"latest":{"Hi":0,"Lo":2},"examples":[{"Hi":0,"Lo":2}]}}]}`), ""},
		"ids of the next collection":  {ids("\x03" + id[1:] + at), "no collection"},
		"a number without an end":     {ids("\xFF"), "no collection"},
		"no count":                    {ids("\x00"), "no collection"},
		"too many for a part":         {ids("\x00\xFF\xFF\x7F" + id[2:] + at), "no collection"},
		"more ids than bytes":         {ids("\x00\x02" + id[2:] + at), "saved"},
	} {
		err := census.New(nil).Read(t.Context(), "saved", bytes.NewReader(test.data))
		if (err == nil) != (test.want == "") || err != nil && (!errors.Is(err, census.ErrSaved) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	long := framesOf(frame{'m', good})
	long[len(source.SavedMagic)+4] = 0xFF // the highest byte of a length
	if err := census.New(nil).Read(t.Context(), "saved", bytes.NewReader(long)); !errors.Is(err, census.ErrSaved) || !strings.Contains(err.Error(), "at most") {
		t.Errorf("a part of 4 GB: %v", err)
	}
}

// TestSavedPlaces reads saved censuses with an id at the last of their places and behind it.
func TestSavedPlaces(t *testing.T) {
	meta := []byte(`{"field":"_id","places":3,"sources":[{"name":"a","unit":"line"}],"spans":[{"place":0,"source":0,"number":0}],"collections":[{"name":""}]}`)
	for place, good := range map[byte]bool{0: true, 2: true, 3: false, 60: false} {
		ids := []byte{0, 1, 0xFF, 1, 0, 0, 0, 1, 0, 0, 1, 2 * place}
		if err := census.New(nil).Read(t.Context(), "saved", bytes.NewReader(framed(meta, ids))); (err == nil) != good {
			t.Errorf("an id at place %d of 3: %v", place, err)
		}
	}
}

// FuzzSaved reads frames with right checksums whose content is anything.
func FuzzSaved(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 1))
	good := save(f, func() *census.Census {
		c := census.New(nil)
		if err := c.Read(f.Context(), "list", bytes.NewReader(listOf(crowd(random, 300), false))); err != nil {
			f.Fatal(err)
		}
		return c
	}())
	size := int(binary.LittleEndian.Uint32(good[9:]))
	f.Add(good[13:13+size], good[13+size+4+5:len(good)-4-9])
	f.Add([]byte(`{"field":"_id","places":3,"sources":[{"name":"a","unit":"line"}],"spans":[{"place":0,"source":0,"number":0}],"collections":[{"name":""}]}`), []byte("\x00\x01\xff\x01\x00\x00\x00\x01\x00\x00\x01\x00"))
	f.Add([]byte(`{"field":"_id","places":1,"spans":[{"source":1}],"collections":[{"late":{"count":1}}]}`), []byte{})
	f.Fuzz(func(t *testing.T, meta, ids []byte) {
		c := census.New(nil)
		err := c.Read(t.Context(), "saved", bytes.NewReader(framed(meta, ids)))
		r, reportErr := c.Report(nil)
		if reportErr != nil {
			t.Fatal(reportErr)
		}
		if err == nil && r.IDs > int64(len(ids)) {
			t.Errorf("%d ids in %d bytes", r.IDs, len(ids))
		}
		if err := c.Save(io.Discard); err != nil {
			t.Error(err)
		}
	})
}

// What stops a saved census stops its reading, and what it says of itself is kept within
// the bounds of any other.
func TestSavedStops(t *testing.T) {
	ids := func(seconds ...uint32) (all []objectid.ID) {
		for _, s := range seconds {
			all = append(all, idOf(1_600_000_000+s, 1, s))
		}
		return all
	}
	data := save(t, readParts(t, nil, []part{pair("all", listOf(ids(1, 2), false))}))
	stop := errors.New("no more")
	read := func(o *census.Options, files ...[]byte) (r *census.Report, err error) {
		t.Helper()
		c := census.New(o)
		for _, data := range files {
			err = errors.Join(err, c.Read(t.Context(), "saved", bytes.NewReader(data)))
		}
		r, reportErr := c.Report(nil)
		if reportErr != nil {
			t.Fatal(reportErr)
		}
		return r, err
	}
	if r, err := read(&census.Options{Keep: func(int) error { return stop }}, data); !errors.Is(err, stop) || r.IDs != 0 {
		t.Errorf("nothing may be kept: %d ids, %v", r.IDs, err)
	}
	if _, err := read(&census.Options{MaxIDs: 3}, data, data); !errors.Is(err, census.ErrLimit) {
		t.Errorf("2 and 2 of 3 ids: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	interrupted := census.New(&census.Options{Keep: func(int) error { cancel(); return nil }})
	if err := interrupted.Read(ctx, "saved", bytes.NewReader(slices.Concat(data, data))); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	huge := func(places uint32) []byte {
		return framesOf(frame{'m', fmt.Sprintf(`{"field":"_id","places":%d,"sources":[{"name":"a","unit":"line"}],"spans":[{"place":0,"source":0,"number":0}]}`, places)}, frame{'e', ""})
	}
	if _, err := read(nil, huge(1<<32-3), huge(1)); err != nil {
		t.Errorf("as many places as there can be: %v", err)
	}
	if _, err := read(nil, huge(1<<32-3), huge(2)); !errors.Is(err, census.ErrTooMany) {
		t.Errorf("one place more: %v", err)
	}
	text := func(n int) string {
		return strings.Repeat(`{"number":1,"text":"bad"},`, n) + `{"number":2,"text":"bad"}`
	}
	meta := `{"field":"_id","places":1,"partial":"interrupted","sources":[{"name":"a","unit":"line","broken":100,"problems":[` + text(99) +
		`],"others":{"string":100},"samples":{"string":[` + text(99) + `]}}],"spans":[{"place":0,"source":0,"number":0}],"collections":[{"name":""}]}`
	boundless := framesOf(frame{'m', meta}, frame{'e', ""})
	again := save(t, readParts(t, nil, []part{pair("saved", boundless)}))
	if problems, samples := 10, source.MaxSamples; bytes.Count(again, []byte(`"text":"bad"`)) != problems+samples {
		t.Errorf("saved again: %d problems and samples, want %d and %d", bytes.Count(again, []byte(`"text":"bad"`)), problems, samples)
	}
	r, err := read(nil, boundless, data)
	if err != nil || r.Partial != "interrupted" {
		t.Errorf("an interrupted census: %q, %v", r.Partial, err)
	}
	for _, s := range r.Sources {
		if s.Name == "a" && (s.Broken != 100 || len(s.Problems) != 10) {
			t.Errorf("%d broken documents, %d of them shown, want 100 and 10", s.Broken, len(s.Problems))
		}
	}
}
