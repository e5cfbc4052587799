package census_test

import (
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/objectid"
)

// timelessNow is the reference time of the tests of ids without a time.
const timelessNow = 1_790_000_000

// randomIDs returns ids that are random from end to end.
func randomIDs(random *rand.Rand, n int) (ids []objectid.ID) {
	for range n {
		ids = append(ids, id12(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, random.Uint32()), random.Uint64())))
	}
	return ids
}

// id12 returns the first twelve bytes of b as an id.
func id12(b []byte) objectid.ID { return objectid.ID(b[:12]) }

// lone returns ids of processes that create one id each, at the given seconds.
func lone(random *rand.Rand, n int, second func(i int) int64) []objectid.ID {
	ids := randomIDs(random, n)
	for i := range ids {
		binary.BigEndian.PutUint32(ids[i][:], uint32(second(i)))
	}
	return ids
}

// hasTime returns the answer of a report: "no time", "doubt" or "time".
func hasTime(r *census.Report) string {
	if slices.Contains(kinds(r), census.KindNoTime) {
		return "no time"
	}
	if slices.ContainsFunc(r.Doubts, func(d census.Doubt) bool { return d.Kind == census.DoubtNoTime }) {
		return "doubt"
	}
	return "time"
}

func timelessReport(t *testing.T, ids []objectid.ID) *census.Report {
	t.Helper()
	return reportOf(t, ids, &census.Options{Now: time.Unix(timelessNow, 0)}, nil)
}

// TestRandomIDsHoldNoTime counts the answers about ids that are random from end to end. If they
// hold no time, the report says nothing of times, clocks and processes.
func TestRandomIDsHoldNoTime(t *testing.T) {
	for n, least := range map[int]int{1: 0, 2: 0, 3: 20, 10: 92, 30: 100, 1000: 100} {
		answers := map[string]int{}
		for seed := range uint64(100) {
			ids := randomIDs(rand.New(rand.NewPCG(seed, uint64(n))), n)
			ids = append(ids, ids[0]) // one id twice
			r := timelessReport(t, ids)
			answer := hasTime(r)
			answers[answer]++
			if answer != "no time" {
				continue
			}
			if got := kinds(r); !slices.Equal(got, []census.Kind{census.KindDuplicate, census.KindNoTime}) && r.Processes == 0 {
				t.Errorf("seed %d: findings %v", seed, got)
			}
			f := r.Findings[1]
			if r.Processes == 0 && (f.Count != int64(n+1) || r.First != nil || r.Last != nil || len(r.Timeline.Buckets) > 0 || r.Timeline.Beyond > 0 || len(r.TopProcesses)+len(r.Events)+len(r.Doubts) > 0) {
				t.Errorf("seed %d: %+v", seed, r)
			}
			if r.Distinct != int64(n) || r.IDs != int64(n+1) || r.Repeated != 1 || f.Evidence == "" || !f.Examples[0].Time.IsZero() {
				t.Errorf("seed %d: %d ids, %d different, %d repeated; %+v", seed, r.IDs, r.Distinct, r.Repeated, f)
			}
			if r.Processes > 0 && n >= 10 {
				answers["processes"]++
			}
		}
		if answers["no time"] < least || answers["time"] > 0 && n > 10 || answers["processes"] > 8 {
			t.Errorf("%d ids: %v, want no time at least %d times", n, answers, least)
		}
	}
}

// TestOtherIDsHoldTime counts the false answers about ids that hold a time, although some clocks
// are wrong, and about those that begin with another time.
func TestOtherIDsHoldTime(t *testing.T) {
	const year = 365 * day
	random := rand.New(rand.NewPCG(1, 1))
	within := func(from, to int64) int64 { return from + random.Int64N(to-from) }
	lately := func(int) int64 { return within(timelessNow-2*year, timelessNow) }
	wrong := func(share float64, clock func() int64) func(int) int64 {
		return func(i int) int64 {
			if random.Float64() < share {
				return clock()
			}
			return lately(i)
		}
	}
	since := func(seconds int64) time.Time { return time.Unix(within(seconds, timelessNow), 0) }
	for _, n := range []int{1, 3, 10, 30, 1000} {
		of := func(id func() []byte) (ids []objectid.ID) {
			for range n {
				ids = append(ids, id12(id()))
			}
			return ids
		}
		for name, ids := range map[string][]objectid.ID{
			"a process for each id":     lone(random, n, lately),
			"for 17 years":              lone(random, n, func(int) int64 { return within(1_262_304_000, timelessNow) }),
			"a load test of one month":  lone(random, n, func(int) int64 { return within(timelessNow-30*day, timelessNow) }),
			"clocks that begin in 1970": lone(random, n, wrong(.5, func() int64 { return within(0, 90*day) })),
			"all of them":               lone(random, n, func(int) int64 { return within(0, 90*day) }),
			"clocks of several epochs": lone(random, n, wrong(.3, func() int64 {
				return within(0, 20*day) + []int64{0, 315_532_800, 946_684_800, 1_104_537_600, 2_085_978_496}[random.IntN(5)]
			})),
			"clocks that are a year ahead": lone(random, n, wrong(.3, func() int64 { return within(timelessNow, timelessNow+year) })),
			"KSUIDs":                       of(func() []byte { id, _ := ksuid.NewRandomWithTime(since(1_500_000_000)); return id.Bytes() }),
			"xids":                         of(func() []byte { id := xid.NewWithTime(since(1_500_000_000)); return id[:] }),
			"ULIDs": of(func() []byte {
				id := ulid.MustNew(ulid.Timestamp(since(1_500_000_000)), ulid.DefaultEntropy())
				return id[:]
			}),
			"UUIDs of version 7": of(func() []byte { id := uuid.Must(uuid.NewV7()); return id[:] }),
			"UUIDs of version 1": of(func() []byte { id := uuid.Must(uuid.NewUUID()); return id[:] })[:1],
		} {
			if answer := hasTime(timelessReport(t, ids)); answer == "no time" || answer == "doubt" && n > 30 {
				t.Errorf("%d ids, %s: %s", n, name, answer)
			}
		}
		hashes := 0
		hash := of(func() []byte { hashes++; b := sha1.Sum(fmt.Appendf(nil, "user %d of %d", hashes, n)); return b[:] })
		v4 := of(func() []byte { id := uuid.New(); return id[:] })
		for name, ids := range map[string][]objectid.ID{"parts of hashes": hash, "UUIDs of version 4": v4} {
			if answer := hasTime(timelessReport(t, ids)); n >= 30 && answer != "no time" || n == 1 && answer != "time" {
				t.Errorf("%d ids, %s: %s", n, name, answer)
			}
		}
	}
}

// TestMixedWithRandomIDs holds that a census judges the ids with a time as if there were no random
// ones among them.
func TestMixedWithRandomIDs(t *testing.T) {
	for seed := range uint64(12) {
		w := &kindWorld{Rand: rand.New(rand.NewPCG(seed, 7))}
		kindMixed(w)
		var ids []objectid.ID
		for text := range strings.Lines(w.list(0)) {
			ids = append(ids, objectid.MustParse(strings.TrimSpace(text)))
		}
		random := rand.New(rand.NewPCG(seed, 9))
		mixed := append(slices.Clone(ids), randomIDs(random, len(ids)/9+30)...)
		alone, both := timelessReport(t, ids), timelessReport(t, mixed)
		if n := both.IDs - alone.IDs; len(both.Findings) == 0 || both.Findings[len(both.Findings)-1].Count != n {
			t.Errorf("seed %d: %d random ids, but %+v", seed, n, both.Findings)
			continue
		}
		both.Findings = both.Findings[:len(both.Findings)-1]
		both.Sources, both.IDs, both.Distinct, both.Repeated = alone.Sources, alone.IDs, alone.Distinct, alone.Repeated
		if len(alone.Findings) == 0 {
			both.Findings = alone.Findings
		}
		if !reflect.DeepEqual(alone, both) {
			t.Errorf("seed %d: with random ids the report is\n%+v, without\n%+v", seed, both, alone)
		}
	}
}

// TestThresholdOfTimelessIDs holds the bounds of the rule on both sides.
func TestThresholdOfTimelessIDs(t *testing.T) {
	const halfYear = 1 << 24
	random := rand.New(rand.NewPCG(3, 3))
	at := func(seconds ...int64) []objectid.ID {
		return lone(random, len(seconds), func(i int) int64 { return seconds[i] })
	}
	recent := func(n int, apart int64) []objectid.ID {
		return lone(random, n, func(i int) int64 { return timelessNow - int64(i)*apart })
	}
	three := at(1, halfYear, 1<<31+1)
	ten := at(1, 2*halfYear, 5*halfYear, 9*halfYear, 30*halfYear, 130*halfYear, 140*halfYear, 150*halfYear, 160*halfYear, 170*halfYear)
	shared := run(0, 0, 3) // a process with three ids
	for _, test := range []struct {
		name   string
		ids    []objectid.ID
		answer string
		left   int64 // ids that are left out
		ok     int64 // processes that are judged
	}{
		{"three impossible times", three, "no time", 3, 0},
		{"not 68 years apart", at(1, halfYear, 1<<31), "doubt", 0, 3},
		{"two", at(1, 1<<31+1), "doubt", 0, 2},
		{"one", at(1), "time", 0, 1},
		{"two in one half-year", at(1, halfYear-1, 1<<31+1), "doubt", 0, 3},
		{"all in one half-year", at(1, 2, 3, 4, halfYear-1), "time", 0, 5},
		{"as many spread as not", slices.Concat(ten, at(2, 3, 4, 5, 6, 7, 8, 9, 10, 11)), "no time", 20, 0},
		{"fewer spread", slices.Concat(ten, at(2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)), "time", 0, 21},
		{"with a possible time", slices.Concat(three, recent(1, 0)), "no time", 4, 0},
		{"with two", slices.Concat(three, recent(2, halfYear)), "doubt", 0, 5},
		{"with a process", slices.Concat(three, shared), "no time", 3, 1},
		{"possible times that chance explains", slices.Concat(ten, recent(5, halfYear)), "no time", 15, 0},
		{"more than that", slices.Concat(ten, recent(6, halfYear)), "no time", 10, 6},
		{"all at once", slices.Concat(ten, recent(3, 1)), "no time", 10, 3},
	} {
		r := timelessReport(t, test.ids)
		var left int64
		if i := slices.IndexFunc(r.Findings, func(f census.Finding) bool { return f.Kind == census.KindNoTime }); i >= 0 {
			left = r.Findings[i].Count
		}
		if answer := hasTime(r); answer != test.answer || left != test.left || r.Processes != test.ok {
			t.Errorf("%s: %s, %d left out, %d processes, want %s, %d, %d", test.name, answer, left, r.Processes, test.answer, test.left, test.ok)
		}
	}
}

// TestElections names electionIds, which have no time and no process, and keeps ids that look
// alike.
func TestElections(t *testing.T) {
	var ids []objectid.ID
	for _, text := range []string{"7fffffff0000000000000007", "7fffffff0000000000000005", "7fffffff0000000002000001", "7fffffff0000000000000005"} {
		ids = append(ids, objectid.MustParse(text))
	}
	only := timelessReport(t, ids)
	if want := (census.Elections{IDs: 4, First: 5, Last: 0x2000001}); only.Elections != want || only.IDs != 4 || only.First != nil || only.Processes != 0 || len(only.Timeline.Buckets) > 0 {
		t.Errorf("%+v", only)
	}
	if got := kinds(only); !slices.Equal(got, []census.Kind{census.KindDuplicate}) {
		t.Errorf("findings %v", got)
	}
	early := timelessReport(t, append(slices.Clone(ids), objectid.MustParse("00000001bcf86cd799439011")))
	if len(early.Timeline.Buckets) != 1 || early.Timeline.By != census.IntervalMinute {
		t.Errorf("the timeline of an id of 1970 is %+v", early.Timeline)
	}
	ids = append(ids[:3], objectid.MustParse("7fffffffbcf86cd799439011"), objectid.MustParse("7fffffff0000000000000000"))
	r := timelessReport(t, append(ids, run(0, 0, 50)...))
	if got := kinds(r); !slices.Equal(got, []census.Kind{census.KindBound, census.KindFuture}) || r.Elections.IDs != 3 || r.Processes != 2 || r.TopProcesses[0].IDs != 50 || len(r.Timeline.Buckets) != 1 {
		t.Errorf("findings %v, %+v", got, r)
	}
	// An electionId is not evidence that other ids are random.
	ids = append(randomIDs(rand.New(rand.NewPCG(1, 1)), 1000), ids[0])
	mixed := timelessReport(t, ids)
	if f := mixed.Findings[0]; f.Kind != census.KindNoTime || f.Count != 1000 || !strings.HasPrefix(f.Evidence, "1,000 ids have a process value") {
		t.Errorf("random ids and an electionId: %+v", f)
	}
}
