package documents_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/oidkit/oid/cmd/oid/internal/documents"
	"github.com/oidkit/oid/internal/engine"
	"github.com/oidkit/oid/store"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{"{}", `{"_id":{"$oid":"507f1f77bcf86cd799439011"}}`, `{"a":{"$numberLong":"7"}} x`, `{"a":[1,{"b":null}]}`, `{"$date":1}`, "{\"\xff\":1}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := documents.Parse(text)
		if err != nil {
			return
		}
		_, raw, err := engine.Insertion(doc, nil)
		if err != nil {
			if !errors.Is(err, store.ErrDocument) && !errors.Is(err, store.ErrKey) {
				t.Errorf("Prepare(%q): %v", text, err)
			}
			return
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
