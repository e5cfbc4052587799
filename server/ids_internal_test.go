package server

import (
	"bytes"
	"testing"

	"github.com/oidkit/oid/objectid"
)

// Ids that share most of their bytes with the one before are sent as all others are.
func TestIDFormsAppend(t *testing.T) {
	var ids []objectid.ID
	for _, start := range []string{"000000000000000000000000", "507f1f77bcf86cd7994390f0", "507f1f77bcf86cd79943fff8", "507f1f77bcf86cd799ffffff", "507f1f78aaf86cd799439011"} {
		id := objectid.MustParse(start)
		for range 40 {
			ids = append(ids, id)
			for i := len(id) - 1; i >= 0; i-- {
				if id[i]++; id[i] != 0 {
					break
				}
			}
		}
	}
	for _, f := range idForms {
		want := []byte("before" + f.open)
		for _, id := range ids {
			if f.digits {
				want = append(want, f.before+id.String()+f.after...)
			} else {
				want = append(want, id[:]...)
			}
		}
		want = append(want[:len(want)-f.between], f.close...)
		if got := f.appendTo([]byte("before"), ids); !bytes.Equal(got, want) {
			t.Errorf("%s: %q, want %q", f.mediaType, got, want)
		}
	}
}
