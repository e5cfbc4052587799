package census_test

import (
	"math"
	"slices"
	"testing"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

// slowVerdict judges the ids of one process value the slow way: every id follows the
// nearest one before it in time whose counter is just below, of all of them. It knows
// less than package census: not the order of the source, nor late threads, nor short
// overlaps.
type slowVerdict struct{ shared, stepped bool }

func judgeSlowly(ids []objectid.ID) (v slowVerdict) {
	slices.SortFunc(ids, objectid.ID.Compare)
	ids = slices.Compact(ids)
	var counters []int
	for _, id := range ids {
		counters = append(counters, counter(id))
	}
	slices.Sort(counters)
	var steps []int
	for i := 1; i < len(counters); i++ {
		steps = append(steps, counters[i]-counters[i-1])
	}
	slices.Sort(steps)
	limit := 200
	if len(steps) > 0 {
		limit += 50 * steps[len(steps)/2]
	}

	// Chains of ids, by the index of the last id.
	type chain struct{ members []int }
	var chains []*chain
	tail := map[int]*chain{}
	order := make([]*chain, len(ids))
	for i := range ids {
		best, distance := -1, limit+1
		for k := i - 1; k >= 0; k-- {
			if tail[k] == nil {
				continue
			}
			if d := (counter(ids[i]) - counter(ids[k]) + wrap) % wrap; d > 0 && d < distance {
				best, distance = k, d
			}
		}
		c := &chain{}
		if best >= 0 {
			c = tail[best]
			delete(tail, best)
		} else {
			chains = append(chains, c)
		}
		c.members = append(c.members, i)
		tail[i], order[i] = c, c
	}
	last := func(c *chain) objectid.ID { return ids[c.members[len(c.members)-1]] }
	first := func(c *chain) objectid.ID { return ids[c.members[0]] }
	n := float64(len(chains))
	for _, a := range chains {
		for _, b := range chains {
			if a == b || len(a.members) < 4 || len(b.members) < 4 {
				continue
			}
			// How often do the two take turns, in different seconds?
			turns := 0
			var now *chain
			second := int64(0)
			for i, c := range order {
				if c != a && c != b {
					continue
				}
				if c != now && ids[i].Time().Unix() > second {
					turns++
				}
				now, second = c, ids[i].Time().Unix()
			}
			d := (counter(first(b)) - counter(last(a)) + wrap) % wrap
			switch continues := n * n * float64(d) / wrap; {
			case continues < math.Exp2(-15) && last(a).Time().After(first(b).Time()):
				v.stepped = true
			case turns > 8:
				v.shared = true
			}
		}
	}
	if v.stepped {
		v.shared = false // the turns of an overlap around a step
	}
	return v
}

// TestAgainstASlowJudge compares the verdicts on faults that both understand, and on
// processes without a fault.
func TestAgainstASlowJudge(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	agree, all := 0, 0
	for seed := range simulations(testenv.Size[uint64](80, 220)) / 4 {
		fault := -1
		if seed%2 == 0 {
			fault = []int{2, 3, 4, 6}[seed/2%4] // starts ahead, falls back, staircase, two at once
		}
		s := newSimulation(seed+2_000_000, fault)
		byValue := map[[5]byte][]objectid.ID{}
		for _, i := range s.stored {
			v := value(i.id.String()[8:18])
			byValue[v] = append(byValue[v], i.id)
		}
		for _, p := range s.report(t).TopProcesses {
			ids := byValue[value(p.Value)]
			if len(ids) > 1500 || p.Doubt != "" {
				continue
			}
			slow := judgeSlowly(ids)
			all++
			if slow == (slowVerdict{p.Has(census.KindSharedValue), p.Has(census.KindClockStep)}) {
				agree++
			} else {
				t.Logf("seed %d: %s: %s: shared %v, stepped %v; slowly %+v", seed, s.kind, p.Value, p.Has(census.KindSharedValue), p.Has(census.KindClockStep), slow)
			}
		}
	}
	t.Logf("%d of %d verdicts agree", agree, all)
	if agree*100 < all*95 {
		t.Errorf("%d of %d verdicts agree", agree, all)
	}
}
