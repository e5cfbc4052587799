package source_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/census/internal/source"
	"github.com/oidkit/oid/internal/unpack"
	"github.com/oidkit/oid/objectid"
)

// TestReaderFails reads every format from a reader that fails in the middle of it: the
// error is the reader's, and not that the data end early.
func TestReaderFails(t *testing.T) {
	broken := errors.New("the disk is broken")
	for name, data := range forms(t) {
		for _, n := range []int{len(data) / 3, len(data) / 2, len(data) - 3} {
			in := io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(broken))
			if _, err := read(t, in, nil); !errors.Is(err, broken) {
				t.Errorf("%s, after %d of %d bytes: %v, want the reader's error", name, n, len(data), err)
			}
		}
	}
}

// TestCallersErrors ends the reading with the error of what takes the batches, and with
// that of what counts the bytes that are decompressed.
func TestCallersErrors(t *testing.T) {
	enough := errors.New("enough")
	for name, data := range forms(t) {
		in, err := source.Open(bytes.NewReader(data), source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = in.Read(t.Context(), func(*source.Batch) {}, func(*source.Batch) error { return enough })
		if !errors.Is(err, enough) {
			t.Errorf("%s: %v, want the error of take", name, err)
		}
		count := func(int) error { return enough }
		in, err = source.Open(bytes.NewReader(zipped(data)), source.Options{Options: unpack.Options{Unpacked: count}})
		if err == nil {
			err = in.Read(t.Context(), func(*source.Batch) {}, func(*source.Batch) error { return nil })
		}
		if !errors.Is(err, enough) {
			t.Errorf("%s: %v, want the error of Unpacked", name, err)
		}
	}
}

// TestBSONByItsFirstField detects a dump whatever the first field of its documents is.
func TestBSONByItsFirstField(t *testing.T) {
	for _, first := range []any{"text", int32(1), int64(1), 1.5, true, nil, bson.D{}, bson.A{}, objectid.New(), bson.MaxKey{}, bson.MinKey{}} {
		doc, err := bson.Marshal(bson.D{{Key: "a", Value: first}, {Key: "_id", Value: objectid.New()}})
		if err != nil {
			t.Fatal(err)
		}
		in, err := source.Open(bytes.NewReader(bytes.Repeat(doc, 100)), source.Options{})
		if err != nil || in.Format != source.BSON {
			t.Errorf("a document that begins with a %T: %v, %v, want BSON", first, in, err)
		}
	}
}

// TestEmptyArrays reads a field within arrays that are empty, in each way to read JSON.
func TestEmptyArrays(t *testing.T) {
	const text = `{"a":[],"_id":1}{"a":[ ],"_id":2}{"a":[{"b":{"$oid":"` + idA + `"}}],"_id":3}`
	for name, in := range map[string]string{"one line": text, "lines": `{"a":[]}` + "\n" + `{"a":[{"b":{"$oid":"` + idA + `"}}]}` + "\n"} {
		r, err := read(t, bytes.NewReader([]byte(in)), &census.Options{Field: "a.b"})
		if err != nil || r.IDs != 1 || len(r.Sources[0].Problems) != 0 {
			t.Errorf("%s: %d ids, %+v, %v, want one id and no problem", name, r.IDs, r.Sources[0].Problems, err)
		}
	}
}
