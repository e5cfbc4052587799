package sealed_test

import (
	"testing"

	"github.com/oidkit/oid/objectid/sealed"
)

func BenchmarkSeal(b *testing.B) {
	for _, form := range sealed.Forms {
		b.Run(form.String(), func(b *testing.B) {
			s := sealer(b, form, "order", testKey)
			id := victim
			for b.Loop() {
				id[11]++
				s.Seal(id)
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, form := range sealed.Forms {
		s := sealer(b, form, "order", testKey, otherKey)
		forged := s.SealBytes(victim)
		forged[15] ^= 1
		for name, sealedID := range map[string][]byte{
			"first key": s.SealBytes(victim),
			"last key":  sealer(b, form, "order", otherKey).SealBytes(victim),
			"forged":    forged,
		} {
			b.Run(form.String()+"/"+name, func(b *testing.B) {
				for b.Loop() {
					_, _ = s.OpenBytes(sealedID)
				}
			})
		}
	}
}
