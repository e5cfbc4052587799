package sealed_test

import (
	"errors"
	"testing"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/objectid/sealed"
)

// Every id comes back, from text and from bytes.
func FuzzSeal(f *testing.F) {
	f.Add([]byte("twelve bytes"), "order")
	f.Add(make([]byte, objectid.Size), "\x00")
	f.Fuzz(func(t *testing.T, b []byte, kind string) {
		if len(b) != objectid.Size || kind == "" {
			return
		}
		s := sealer(t, kind, testKey, otherKey)
		id := objectid.ID(b)
		if got, err := s.Open(s.Seal(id)); got != id || err != nil {
			t.Errorf("text: %v, %v, want %v", got, err, id)
		}
		if got, err := s.OpenBytes(s.SealBytes(id)); got != id || err != nil {
			t.Errorf("bytes: %v, %v, want %v", got, err, id)
		}
	})
}

// A text that opens is the one that sealing returns.
func FuzzOpen(f *testing.F) {
	for _, v := range vectors {
		f.Add(v.text)
	}
	s := sealer(f, "order", testKey)
	f.Fuzz(func(t *testing.T, text string) {
		id, err := s.Open(text)
		if err == nil && s.Seal(id) != text || err != nil && (!errors.Is(err, sealed.ErrNotSealed) || !id.IsZero()) {
			t.Errorf("%q: %v, %v", text, id, err)
		}
		if id, err := s.OpenBytes([]byte(text)); err == nil && string(s.SealBytes(id)) != text {
			t.Errorf("bytes %q: %v", text, id)
		}
	})
}
