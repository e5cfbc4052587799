package census_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/oidkit/oid/census"
)

// endless is a text that goes on as fill says, up to size bytes.
type endless struct {
	size int
	fill func(p []byte) int
	rest []byte
	buf  [1 << 16]byte
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		if e.size <= 0 {
			return 0, io.EOF
		}
		n := e.fill(e.buf[:])
		e.size -= n
		e.rest = e.buf[:n]
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// TestMemory holds the census to 24 bytes for each id and 16 MiB beside, for few
// writers and for as many as there are ids.
func TestMemory(t *testing.T) {
	const n = 2_000_000
	random := rand.New(rand.NewPCG(1, 2))
	for name, writers := range map[string]uint64{"3 writers": 3, "1500 writers": 1500, "as many as ids": 1 << 40} {
		i := uint32(0)
		docs := &endless{size: n * 22, fill: func(p []byte) int {
			k := 0
			for ; k+22 <= len(p) && k < 22*1000; k += 22 {
				d := p[k : k+22]
				copy(d, "\x16\x00\x00\x00\x07_id\x00")
				binary.BigEndian.PutUint64(d[13:], random.Uint64N(writers)<<24)
				binary.BigEndian.PutUint32(d[9:], 1_600_000_000+i/100)
				binary.BigEndian.PutUint16(d[19:], uint16(i))
				d[18], d[21] = byte(i>>16), 0
				i++
			}
			return k
		}}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		c := census.New(nil)
		if err := c.Read(t.Context(), "documents", docs); err != nil {
			t.Fatal(err)
		}
		r, err := c.Report(nil)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		const beside = 16 << 20
		each := (float64(after.HeapAlloc) - float64(before.HeapAlloc) - beside) / float64(r.IDs)
		if r.IDs != n || each > 24 {
			t.Errorf("%s: %d ids, %.1f bytes each", name, r.IDs, each)
		}
		runtime.KeepAlive(c)
	}
}

// TestLongLines reads lines that are far longer than a document can be.
func TestLongLines(t *testing.T) {
	long := func(size int) io.Reader {
		return &endless{size: size, fill: func(p []byte) int {
			for i := range p {
				p[i] = 'x'
			}
			return len(p)
		}}
	}
	line := func(id string) io.Reader { return strings.NewReader(`{"_id":{"$oid":"` + id + `"}}` + "\n") }
	for _, size := range []int{10 << 20, 200 << 20} {
		// The long line is no document, and the longer one is more than is read.
		r, err := read(t, io.MultiReader(line(idA), strings.NewReader(`{"x":"`), long(size), strings.NewReader(`",`), line(idA), line(idB)), nil)
		if got := found(r); got != "2 ids, without 0, broken 1" || err != nil {
			t.Errorf("a line of %d MiB: %s, %v", size>>20, got, err)
		}
	}
	r, err := read(t, io.MultiReader(line(idA), strings.NewReader(`{"x":"`), long(20<<20), strings.NewReader(`","_id":{"$oid":"`+idB+`"}}`)), nil)
	if got := found(r); got != "2 ids, without 0" || err != nil {
		t.Errorf("an _id behind 20 MiB: %s, %v", got, err)
	}
	for _, format := range []census.Format{census.Grep, census.List, census.JSON, census.CSV, census.BSON} {
		r, err := read(t, io.MultiReader(strings.NewReader("_id\n"), long(70<<20), strings.NewReader("\n"+idA+"\n")), &census.Options{Format: format})
		if err == nil && r.IDs != 1 {
			t.Errorf("%v: %d ids, %v", format, r.IDs, err)
		}
	}
}

// TestOpenQuote reads CSV whose quote nobody closes.
func TestOpenQuote(t *testing.T) {
	r, err := read(t, io.MultiReader(strings.NewReader("_id,n\n"+idA+",1\n"+idB+",\""), &endless{size: 200 << 20, fill: func(p []byte) int {
		for i := range p {
			p[i] = '\n'
		}
		return len(p)
	}}), nil)
	if r.IDs != 1 || err == nil || !strings.Contains(err.Error(), "a row longer than 64 MiB") {
		t.Errorf("%s, %v", found(r), err)
	}
}

// TestLongCSV reads more rows than one may have bytes.
func TestLongCSV(t *testing.T) {
	row := []byte(idA + "," + strings.Repeat("x", 1000) + "\n")
	const rows = 70 << 10
	r, err := read(t, io.MultiReader(strings.NewReader("_id,n\n"), &endless{size: rows * len(row), fill: func(p []byte) int { return copy(p, row) }}), nil)
	if r.IDs != rows || err != nil {
		t.Errorf("%s, %v, want %d ids", found(r), err, rows)
	}
}

// TestDeepNesting reads documents within documents to a depth that no recursion
// would survive.
func TestDeepNesting(t *testing.T) {
	const depth = 1 << 20
	deep := strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)
	r, err := read(t, strings.NewReader(`{"x":`+deep+`,"_id":{"$oid":"`+idA+`"}}`), nil)
	if err != nil || r.IDs != 1 {
		t.Errorf("%d ids, %v", r.IDs, err)
	}
	r, err = read(t, strings.NewReader("["+strings.Repeat("[", depth)), nil)
	if err == nil {
		t.Errorf("an array without an end: %s", found(r))
	}
	path := strings.TrimSuffix(strings.Repeat("a.", 50), ".")
	r, err = read(t, strings.NewReader(deep), &census.Options{Field: path})
	if err != nil || found(r) != "0 ids, [object:1], without 0" {
		t.Errorf("a long path: %s, %v", found(r), err)
	}
	doc := []byte{5, 0, 0, 0, 0}
	for range 2000 {
		around := binary.LittleEndian.AppendUint32(nil, uint32(4+3+len(doc)+1))
		doc = append(append(append(around, "\x03a\x00"...), doc...), 0)
	}
	r, err = read(t, bytes.NewReader(doc), &census.Options{Format: census.BSON, Field: path})
	if err != nil || found(r) != "0 ids, [object:1], without 0" {
		t.Errorf("deep BSON: %s, %v", found(r), err)
	}
}

func TestWideTimeline(t *testing.T) {
	c := census.New(nil)
	if err := c.Read(t.Context(), "list", strings.NewReader("507f1f77bcf86cd799439011\n6592008029c8c3e4dc762501\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Report(&census.View{By: census.Minute}); err == nil || !strings.Contains(fmt.Sprint(err), "1048576 buckets") {
		t.Errorf("11 years by minute: %v", err)
	}
	if r, err := c.Report(&census.View{By: census.Hour}); err != nil || len(r.Timeline.Buckets) < 90_000 {
		t.Errorf("11 years by hour: %v", err)
	}
}
