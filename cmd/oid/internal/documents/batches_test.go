package documents_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/cmd/oid/internal/documents"
)

// Each line comes once, in order and with its number, however the reader cuts the text and
// however long the caller works; empty lines are left out.
func TestBatches(t *testing.T) {
	const n = 10_000
	var text strings.Builder
	text.WriteString("\ufeff")
	for i := 1; i <= n; i++ {
		switch {
		case i%10 == 0:
			text.WriteString(" \n")
		case i%10 == 1:
			text.WriteString("{\n")
		default:
			fmt.Fprintf(&text, "{\"n\":%d}\n", i)
		}
	}
	for name, in := range map[string]io.Reader{
		"whole": strings.NewReader(text.String()), "halves": iotest.HalfReader(strings.NewReader(text.String())), "bytes": iotest.OneByteReader(strings.NewReader(text.String())),
		"without the last line feed": strings.NewReader(strings.TrimRight(text.String(), " \n")),
	} {
		last, lines := int64(0), 0
		for batch, err := range documents.Batches(t.Context(), in) {
			if err != nil || len(batch) == 0 {
				t.Fatalf("%s: %d lines, %v", name, len(batch), err)
			}
			for _, l := range batch {
				want := last + 1
				if want%10 == 0 {
					want++
				}
				if l.Number != want || (l.Err != nil) != (want%10 == 1) || l.Err == nil && l.Doc.(bson.D)[0].Value != int32(want) {
					t.Fatalf("%s: line %d, %v, %v after line %d", name, l.Number, l.Doc, l.Err, last)
				}
				last = l.Number
				lines++
			}
		}
		if lines != n*9/10 {
			t.Errorf("%s: %d lines, want %d", name, lines, n*9/10)
		}
	}
}

// A line comes before the next one is written, an error of the input after the lines before
// it, and the end of the context at once.
func TestBatchesOfAPipe(t *testing.T) {
	in, feed := io.Pipe()
	seen := make(chan int)
	go func() {
		for i := range 3 {
			fmt.Fprintf(feed, "{\"n\":%d}\n{\"n\"", i) // and the beginning of the next
			<-seen
			fmt.Fprint(feed, ":0}\n")
			<-seen
		}
		feed.CloseWithError(io.ErrUnexpectedEOF)
	}()
	lines := 0
	for batch, err := range documents.Batches(t.Context(), in) {
		if err != nil {
			if lines != 6 || !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "read line 7") {
				t.Errorf("after %d lines: %v", lines, err)
			}
			break
		}
		for range batch {
			lines++
			seen <- lines
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	in, _ = io.Pipe()
	cancel(stopped)
	for batch, err := range documents.Batches(ctx, in) {
		if batch != nil || !errors.Is(err, stopped) {
			t.Errorf("%v, %v", batch, err)
		}
	}
}

// FuzzBatches holds that the documents of an input do not depend on how it is cut.
func FuzzBatches(f *testing.F) {
	raw, err := bson.Marshal(bson.D{{Key: "_id", Value: 7}})
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{"{\"a\":1}\n{", "[{\"a\":1},{\"b\":2}]", "{\n\"a\":1\n}\n{}", "/* 1 */ {}", string(raw) + string(raw), "{\n{}\n", "\x1f\x8b", "[1", "\ufeff[{}]"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		all := func(in io.Reader) (out string) {
			for batch, err := range documents.Batches(t.Context(), in) {
				for _, l := range batch {
					if (l.Doc == nil) != (l.Err != nil) || l.Number < 1 {
						t.Errorf("%+v", l)
					}
					out += fmt.Sprintln(l.Unit, l.Number, l.Doc, l.Err)
				}
				if err != nil {
					out += err.Error()
				}
			}
			return out
		}
		whole, cut := all(bytes.NewReader(text)), all(iotest.OneByteReader(bytes.NewReader(text)))
		if whole != cut {
			t.Errorf("%q: at once\n%s, byte by byte\n%s", text, whole, cut)
		}
	})
}
