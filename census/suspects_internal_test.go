package census

import "github.com/oidkit/oid/census/internal/idset"

import "testing"

// TestNeed holds how much evidence a finding takes: of one in few process values that have
// breaks, of one in many, and of many that have as much.
func TestNeed(t *testing.T) {
	for _, test := range []struct {
		name         string
		broken       int64
		bits         int
		values       int64 // with these bits
		proof, doubt int
	}{
		{"few", fewBroken, proofBits, 1, proofBits, doubtBits},
		{"twice as many", 2 * fewBroken, proofBits, 1, proofBits + 1, doubtBits + 1},
		{"very many", 1024 * fewBroken, 20, 1, proofBits + 10, doubtBits + 10},
		{"of which many have as much", 1024 * fewBroken, 20, 3, 20, doubtBits + 10},
		{"but less than a proof", 1024 * fewBroken, proofBits - 1, 1000, proofBits + 10, doubtBits + 10},
	} {
		var s suspects
		s.strongest[test.bits] = test.values
		if proof, doubt := s.need(test.broken); proof != test.proof || doubt != test.doubt {
			t.Errorf("%s: %d bits and %d for a doubt, want %d and %d", test.name, proof, doubt, test.proof, test.doubt)
		}
	}
}

// TestMoreLinesThanAreJudged judges a process that resumes more often than there are lines.
func TestMoreLinesThanAreJudged(t *testing.T) {
	var ids [][2]uint32
	for i := range uint32(maxLines + 100) {
		ids = append(ids, [2]uint32{100 * i, 7}, [2]uint32{100*i + 1, 8})
	}
	set := new(idset.Space).NewSet()
	for place, id := range ids {
		set.Add([]idset.Record{idset.RecordOf(0xA1B2C3D4E5, id[0]+1_000_000, id[1], uint32(place))}, 0)
	}
	judged := false
	err := set.Visit(1, func() idset.Visitor {
		return func(e idset.Extent) {
			if e.Len() == 0 {
				return
			}
			v := judge(e, 0xA1B2C3D4E5)
			if judged = true; !v.isPart || v.found[resumed].bits < proofBits {
				t.Errorf("part %v, resumed %+v", v.isPart, v.found[resumed])
			}
			for i, id := range ids {
				if r := e.At(i); r.Second() != id[0]+1_000_000 || r.Counter() != id[1] || r.Value() != 0xA1B2C3D4E5 {
					t.Fatalf("record %d has changed: %x", i, *r)
				}
			}
		}
	})
	if err != nil || !judged {
		t.Errorf("judged %v, %v", judged, err)
	}
}
