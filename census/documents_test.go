package census_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/oidkit/oid/census"
)

// TestDocuments numbers documents by the lines of the source, and refuses a container.
func TestDocuments(t *testing.T) {
	const blank = 3_000_000 // several blocks
	var got []census.Document
	keep := func(d census.Document) error {
		got = append(got, d)
		return nil
	}
	text := `{"a":1}` + strings.Repeat("\n", blank) + `{"a":2}` + "\n"
	if err := census.Documents(t.Context(), strings.NewReader(text), keep); err != nil || len(got) != 2 || got[0].Number != 1 || got[1].Number != blank+1 || got[1].Unit != "line" {
		t.Errorf("%+v, %v", got, err)
	}
	var folder bytes.Buffer
	w := tar.NewWriter(&folder)
	if err := w.WriteHeader(&tar.Header{Name: "a.json", Mode: 0o600, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got = nil
	if err := census.Documents(t.Context(), &folder, keep); !errors.Is(err, census.ErrFormat) || !strings.Contains(err.Error(), "a.json") || len(got) > 0 {
		t.Errorf("a tar: %d documents, %v", len(got), err)
	}
}
