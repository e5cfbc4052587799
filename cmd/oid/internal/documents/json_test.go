package documents_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/oidkit/oid/cmd/oid/internal/documents"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/memstore"
)

// FuzzParse stores what can be stored, and prints what can be read again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"{}", `{"_id":{"$oid":"507f1f77bcf86cd799439011"}}`, `{"a":{"$numberLong":"7"}} x`, `{"a":[1,{"b":null}]}`, `{"$date":1}`, "{\"\xff\":1}"} {
		f.Add([]byte(s))
	}
	s := memstore.New()
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := documents.Parse(text)
		if err != nil {
			return
		}
		key, err := s.Insert(t.Context(), "c", doc)
		if err != nil {
			if !errors.Is(err, store.ErrDocument) && !errors.Is(err, store.ErrKey) && !errors.Is(err, store.ErrDuplicate) {
				t.Errorf("Insert(%q): %v", text, err)
			}
			return
		}
		raw, err := s.Get(t.Context(), "c", key)
		if err != nil {
			t.Fatal(err)
		}
		line, err := documents.AsLine(raw)
		if err != nil {
			t.Fatalf("%q is stored and cannot be printed: %v", text, err)
		}
		if _, err := documents.Parse(line); err != nil || bytes.Count(line, []byte("\n")) != 1 {
			t.Errorf("%q is printed as %q: %v", text, line, err)
		}
	})
}
