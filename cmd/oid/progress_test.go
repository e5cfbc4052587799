package main

import (
	"io"
	"testing"

	"github.com/schollz/progressbar/v3"
)

// TestProgressOfDocuments counts documents as they are written.
func TestProgressOfDocuments(t *testing.T) {
	p := &progress{bar: progressbar.NewOptions64(10*countedTogether, progressbar.OptionSetWriter(io.Discard))}
	w := &counting{Writer: io.Discard, progress: p}
	for range 2*countedTogether + 7 {
		if n, err := w.Write([]byte("doc")); n != 3 || err != nil {
			t.Fatal(n, err)
		}
	}
	if n := p.bar.State().CurrentNum; n != 2*countedTogether {
		t.Errorf("counted %d documents", n)
	}
}

// TestTotalSize holds what the progress of different sources counts.
func TestTotalSize(t *testing.T) {
	file := func(size int64) part { return part{size: size, documents: -1} }
	live := func(documents int64) part { return part{size: -1, documents: documents} }
	for _, test := range []struct {
		name    string
		parts   []part
		total   int64
		isBytes bool
	}{
		{"files", []part{file(5), file(0), file(7)}, 12, true},
		{"a stream beside a file", []part{file(5), live(-1)}, -1, true},
		{"a stream before a file", []part{live(-1), file(5)}, -1, true},
		{"collections", []part{live(5), live(0), live(7)}, 12, false},
		{"a collection without an estimate", []part{live(5), live(-1), live(7)}, -1, true},
		{"a collection and a file", []part{live(5), file(7)}, -1, true},
	} {
		if total, isBytes := totalSize(test.parts); total != test.total || isBytes != test.isBytes {
			t.Errorf("%s: %d, bytes %v, want %d, %v", test.name, total, isBytes, test.total, test.isBytes)
		}
	}
}
