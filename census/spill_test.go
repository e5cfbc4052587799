package census_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
)

// crowd returns n ids as very different processes create them, with everything that a
// report has something to say about: processes side by side, restarts with the same
// value, values that are shared, drawn for every id or used by one process alone, clock
// steps, duplicates, bounds, and ids from before and after all others.
func crowd(random *rand.Rand, n int) []objectid.ID {
	type process struct {
		value            uint64
		second, counter  uint32
		everySecond, gap int
	}
	var processes []process
	for i := range 1 + random.IntN(40) {
		p := process{random.Uint64() >> 24, 1_500_000_000 + random.Uint32N(50_000_000), random.Uint32() >> 8, 1 + random.IntN(30), 1 + random.IntN(2000)}
		if i > 0 && random.IntN(4) == 0 {
			p.value = processes[random.IntN(i)].value + uint64(random.IntN(3))
		}
		processes = append(processes, p)
	}
	ids := make([]objectid.ID, 0, n)
	for len(ids) < n {
		p := &processes[random.IntN(len(processes))]
		for range 1 + random.IntN(50) {
			if random.IntN(p.everySecond) == 0 {
				p.second += 1 + random.Uint32N(20)
			}
			p.counter = (p.counter + 1 + random.Uint32N(uint32(p.gap))) & 0xFFFFFF
			value := p.value
			switch random.IntN(2000) {
			case 0:
				p.second -= 5000 // a clock step, or a late id
			case 1:
				p.counter = random.Uint32() >> 8 // a restart
			case 2:
				value = random.Uint64() >> 24
			case 3:
				if len(ids) > 0 {
					ids = append(ids, ids[random.IntN(len(ids))])
				}
			}
			id := idOf(p.second, value, p.counter)
			switch random.IntN(5000) {
			case 0:
				id = objectid.ID{byte(random.Uint32()), 1, 2, 3}
			case 1:
				id = idOf(random.Uint32(), value, p.counter)
			}
			ids = append(ids, id)
		}
	}
	return ids[:n]
}

func idOf(second uint32, value uint64, counter uint32) (id objectid.ID) {
	for i := range 4 {
		id[i] = byte(second >> (24 - 8*i))
	}
	for i := range 5 {
		id[4+i] = byte(value >> (32 - 8*i))
	}
	id[9], id[10], id[11] = byte(counter>>16), byte(counter>>8), byte(counter)
	return id
}

// listOf returns ids as a list, or as documents with a string.
func listOf(ids []objectid.ID, strings bool) []byte {
	var b bytes.Buffer
	for _, id := range ids {
		if strings {
			fmt.Fprintf(&b, `{"_id":"%s"}`+"\n", id)
		} else {
			fmt.Fprintf(&b, "%s\n", id)
		}
	}
	return b.Bytes()
}

// part is a source of a census.
type part struct {
	name, collection string
	data             []byte
}

// parts divides ids among sources of several collections.
func parts(random *rand.Rand, ids []objectid.ID) (out []part) {
	collections := []string{"", "shop.orders", "shop.users"}[:1+random.IntN(3)]
	for len(ids) > 0 {
		n := min(len(ids), 1+random.IntN(len(ids)))
		collection := collections[random.IntN(len(collections))]
		out = append(out, part{fmt.Sprintf("source %d", len(out)), collection, listOf(ids[:n], collection == "shop.users")})
		ids = ids[n:]
	}
	return append(out, part{"others", "", []byte("{\"_id\":7}\n{\"_id\":7}\n{\"_id\":\"x\"}\n{\"a\":1}\nnonsense\n")}, part{"empty.bson", "shop.empty", nil}, part{"broken", "", []byte("what is this")})
}

func readParts(t *testing.T, o *census.Options, parts []part) *census.Census {
	t.Helper()
	c := census.New(o)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, p := range parts {
		if err := c.ReadCollection(t.Context(), p.name, p.collection, bytes.NewReader(p.data)); (err != nil) != (p.name == "broken") {
			t.Fatalf("%s: %v", p.name, err)
		}
	}
	return c
}

// told returns everything that a report says.
func told(t *testing.T, c *census.Census) string {
	t.Helper()
	r, err := c.Report(&census.ReportOptions{Top: 7})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(towire.Census(r), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// differ shows where two reports differ first.
func differ(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d: %s, want %s", i, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(x), len(y))
}

// TestSpilledEqualsMemory counts the same ids in memory and with room for few of them.
func TestSpilledEqualsMemory(t *testing.T) {
	testenv.Long(t, "counts a million ids")
	t.Parallel()
	for seed := range testenv.Seeds(4) {
		random := rand.New(rand.NewPCG(seed, 1))
		sources := parts(random, crowd(random, int(testenv.Seeds(50_000))+random.IntN(int(testenv.Seeds(100_000)))))
		o := census.Options{Now: time.Unix(1_700_000_000, 0)}
		want := told(t, readParts(t, &o, sources))
		o.Memory, o.Workers = 1, 1+int(seed%3)
		spilled := readParts(t, &o, sources)
		if got := told(t, spilled); got != want {
			t.Errorf("seed %d: %s", seed, differ(got, want))
		}
		if got := told(t, spilled); got != want {
			t.Errorf("seed %d, told again: %s", seed, differ(got, want))
		}
		d, err := census.Compare(readParts(t, nil, sources), spilled, nil)
		if err != nil || d.A.Only+d.B.Only != 0 || d.Both == 0 {
			t.Errorf("seed %d: the difference of the same ids: %+v, %v", seed, d, err)
		}
	}
}

// TestSpillOneProcess counts a process that has more ids than there is room for in
// memory, in and out of order.
func TestSpillOneProcess(t *testing.T) {
	ids := make([]objectid.ID, 0, testenv.Seeds(300_000))
	for i := range uint32(cap(ids)) {
		ids = append(ids, idOf(1_600_000_000+i/7, 5, (i*3)&0xFFFFFF))
	}
	for name, mix := range map[string]func(){
		"in order": func() {},
		"shuffled": func() {
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		},
	} {
		mix()
		o := census.Options{Now: time.Unix(1_700_000_000, 0)}
		sources := []part{{"all", "", listOf(ids, false)}}
		want := told(t, readParts(t, &o, sources))
		o.Memory = 1
		if got := told(t, readParts(t, &o, sources)); got != want {
			t.Errorf("%s: %s", name, differ(got, want))
		}
	}
}

// TestSpillWithoutDisk counts with a folder for temporary files that does not exist: what
// was counted before is there, and the error.
func TestSpillWithoutDisk(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	random := rand.New(rand.NewPCG(1, 1))
	c := census.New(&census.Options{Memory: 1})
	err := c.Read(t.Context(), "all", io.LimitReader(bytes.NewReader(listOf(crowd(random, 200_000), false)), 1<<30))
	if err == nil || !strings.Contains(err.Error(), "spill ids to disk: no such file or directory; set TMPDIR") {
		t.Fatalf("without a folder: %v", err)
	}
	r, err := c.Report(nil)
	if err != nil || r.IDs < 1<<16 || !r.Broken() {
		t.Errorf("%d ids, %v, want 65536 and more", r.IDs, err)
	}
}
