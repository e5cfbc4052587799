package source_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/testenv"
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

// TestLongLines reads lines that are far longer than a document can be.
func TestLongLines(t *testing.T) {
	testenv.WithoutRace(t)
	long := func(size int) io.Reader {
		xs := bytes.Repeat([]byte("x"), 1<<16)
		return &endless{size: size, fill: func(p []byte) int { return copy(p, xs) }}
	}
	line := func(id string) io.Reader { return strings.NewReader(`{"_id":{"$oid":"` + id + `"}}` + "\n") }
	for size, want := range map[int]string{10 << 20: "2 ids, without 0, broken 1", 70 << 20: "1 ids, without 0, error"} {
		// The long line is not a document, and the longer one exceeds what is read.
		r, err := read(t, io.MultiReader(line(idA), strings.NewReader(`{"x":"`), long(size), strings.NewReader(`",`), line(idA), line(idB)), nil)
		if got := found(r); !strings.HasPrefix(got, want) || err != nil && !strings.HasSuffix(err.Error(), "stopped at byte 44: a line longer than 64 MiB") {
			t.Errorf("a line of %d MiB: %s, %v", size>>20, got, err)
		}
	}
	r, err := read(t, io.MultiReader(line(idA), strings.NewReader(`{"x":"`), long(20<<20), strings.NewReader(`","_id":{"$oid":"`+idB+`"}}`)), nil)
	if got := found(r); got != "2 ids, without 0" || err != nil {
		t.Errorf("an _id behind 20 MiB: %s, %v", got, err)
	}
	for _, format := range []census.Format{census.FormatGrep, census.FormatList, census.FormatJSON, census.FormatCSV, census.FormatBSON} {
		r, err := read(t, io.MultiReader(strings.NewReader("_id\n"), long(70<<20), strings.NewReader("\n"+idA+"\n")), &census.Options{Format: format})
		if err == nil && r.IDs != 1 {
			t.Errorf("%v: %d ids, %v", format, r.IDs, err)
		}
	}
}

// TestOpenQuote reads CSV whose quote nobody closes.
func TestOpenQuote(t *testing.T) {
	testenv.WithoutRace(t)
	newlines := bytes.Repeat([]byte("\n"), 1<<16)
	r, err := read(t, io.MultiReader(strings.NewReader("_id,n\n"+idA+",1\n"+idB+",\""), &endless{size: 70 << 20, fill: func(p []byte) int { return copy(p, newlines) }}), nil)
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
	testenv.Long(t, "reads large files")
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
	r, err = read(t, bytes.NewReader(doc), &census.Options{Format: census.FormatBSON, Field: path})
	if err != nil || found(r) != "0 ids, [object:1], without 0" {
		t.Errorf("deep BSON: %s, %v", found(r), err)
	}
}
