package census_test

import (
	"testing"
	"time"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/objectid"
)

// counter returns the last three bytes of an id.
func counter(id objectid.ID) int { return int(id[9])<<16 | int(id[10])<<8 | int(id[11]) }

// TestOwnGenerator counts ids of generators whose counter overflows again and
// again within a second, which takes it into other process values.
func TestOwnGenerator(t *testing.T) {
	half := uint32(0x20876543) // of a second or two of a value alone nobody can tell that they are not restarts
	for layout, block := range map[objectid.Layout]*[4]byte{objectid.Modern: {1, 2, 3, 4}, objectid.Java: nil} {
		now := time.Unix(1_700_000_000, 500_000_000)
		g, err := objectid.NewGenerator(&objectid.Options{Layout: layout, Block: block, Counter: &half, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		var ids []objectid.ID
		buffer := make([]objectid.ID, 1<<16)
		overflows := 0
		for overflows < 2 {
			// Keep what is near an overflow, and one of 1000 of all others.
			now = now.Add(time.Second)
			g.Fill(buffer)
			overflow := counter(buffer[0]) > counter(buffer[len(buffer)-1])
			if overflow {
				overflows++
			}
			for i := 0; i < len(buffer); i++ {
				id := buffer[i]
				if c := counter(id); c < 100 || c >= 1<<24-100 {
					ids = append(ids, id)
				} else if i%1000 == 0 {
					ids = append(ids, id)
				} else if !overflow {
					i += 1000 - i%1000 - 1
				}
			}
		}
		r := reportOf(t, ids, nil, nil)
		if len(r.Findings) != 0 || r.Processes != 1 {
			t.Fatalf("%v: %d writers, findings %+v", layout, r.Processes, r.Findings)
		}
		w := r.TopProcesses[0]
		if w.Values < 2 || w.IDs != int64(len(ids)) || w.Jumps != 0 {
			t.Errorf("%v: %+v, want %d ids", layout, w, len(ids))
		}
	}
}

// TestOthersAreNotJoined counts ids of processes with neighbouring values that
// are what classic drivers give to neighbouring pids.
func TestOthersAreNotJoined(t *testing.T) {
	for seed := range uint64(30) {
		p := newPopulation(seed)
		a, b := p.anyProcess(), p.anyProcess()
		a.value[4] &^= 1
		b.value = a.value
		b.value[4] |= 1
		p.play(a, b)
		r := reportOf(t, p.ids, &census.Options{Now: time.Unix(p.start+1_000_000, 0)}, nil)
		if want := int64(len(p.missing)); r.Processes != want || len(r.Findings) != 0 {
			t.Errorf("seed %d: %d writers, %v, want %d", seed, r.Processes, r.Findings, want)
		}
	}
}
