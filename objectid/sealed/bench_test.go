package sealed_test

import "testing"

func BenchmarkSeal(b *testing.B) {
	s := sealer(b, "order", testKey)
	id := victim
	for b.Loop() {
		id[11]++
		s.Seal(id)
	}
}

func BenchmarkOpen(b *testing.B) {
	s := sealer(b, "order", testKey, otherKey)
	forged := s.SealBytes(victim)
	forged[15] ^= 1
	for name, sealedID := range map[string][]byte{
		"first key": s.SealBytes(victim),
		"last key":  sealer(b, "order", otherKey).SealBytes(victim),
		"forged":    forged,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _ = s.OpenBytes(sealedID)
			}
		})
	}
}
