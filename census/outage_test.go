package census_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

// A rhythm is a collection of which only the creation times matter.
type rhythm struct {
	*rand.Rand
	zone       *time.Location
	start, end time.Time
	ids        []rhythmID
	runs       uint64   // process values so far
	hole       [2]int64 // planted outage, in Unix seconds
}

type rhythmID struct {
	second int64
	value  uint64
}

const hour = 60 * 60

func newRhythm(seed uint64, days int) *rhythm {
	s := &rhythm{Rand: rand.New(rand.NewPCG(seed, 4711)), zone: time.UTC}
	s.start = time.Date(2012, 1, 2, 0, 0, 0, 0, s.zone).AddDate(0, 0, s.IntN(700))
	s.end = s.start.AddDate(0, 0, days)
	return s
}

// local gives r a zone with daylight saving time.
func (s *rhythm) local(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	y, m, d := s.start.Date()
	s.zone, s.start = zone, time.Date(y, m, d, 0, 0, 0, 0, zone)
}

// batch stores n ids of a new process within the given seconds.
func (s *rhythm) batch(at int64, n int, seconds float64) {
	s.runs++
	for range n {
		s.ids = append(s.ids, rhythmID{at + int64(seconds*s.Float64()), s.runs})
	}
}

// job runs at the given times of the days, give or take jitter seconds.
func (s *rhythm) job(seconds []int, jitter float64, days func(time.Time) bool) {
	size := s.size()
	for d := s.start; d.Before(s.end); d = d.AddDate(0, 0, 1) {
		if !days(d) {
			continue
		}
		y, m, day := d.Date()
		for _, at := range seconds {
			t := time.Date(y, m, day, 0, 0, at, 0, s.zone).Unix()
			s.batch(t+int64(jitter*(2*s.Float64()-1)), max(1, int(size*(0.7+0.6*s.Float64()))), 40)
		}
	}
}

// size returns how many ids a run of a job stores.
func (s *rhythm) size() float64 { return math.Pow(10, 2*s.Float64()) }

func hours(from, to, minute int) (out []int) {
	for h := from; h < to; h++ {
		out = append(out, h*hour+minute*60)
	}
	return out
}

func daily(time.Time) bool { return true }

func on(days ...time.Weekday) func(time.Time) bool {
	return func(t time.Time) bool { return slices.Contains(days, t.Weekday()) }
}

var workingDays = on(time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday)

// poisson returns a random number of that mean.
func (s *rhythm) poisson(mean float64) int {
	if mean > 200 {
		return max(0, int(mean+math.Sqrt(mean)*s.NormFloat64()+0.5))
	}
	n := 0
	for t := s.ExpFloat64(); t < mean; t += s.ExpFloat64() {
		n++
	}
	return n
}

// shop stores ids by day and night, of a rate an hour in the busiest hours, times the
// level of the day.
func (s *rhythm) shop(rate float64, level func(time.Time) float64) {
	s.runs++
	for d := s.start; d.Before(s.end); d = d.AddDate(0, 0, 1) {
		l := level(d)
		y, m, day := d.Date()
		for h := range 24 {
			at := time.Date(y, m, day, h, 0, 0, 0, s.zone)
			wave := 0.02
			if h >= 6 {
				wave = max(wave, math.Sin(math.Pi*float64(h-5)/19))
			}
			for range s.poisson(rate * l * wave) {
				s.ids = append(s.ids, rhythmID{at.Unix() + int64(s.IntN(hour)), s.runs})
			}
		}
	}
}

func weekend(t time.Time) float64 {
	if workingDays(t) {
		return 1
	}
	return 0.4
}

// holidays returns days, n a year, that are as good as off.
func (s *rhythm) holidays(n int) map[[2]int]bool {
	out := map[[2]int]bool{}
	for y := s.start.Year(); y <= s.end.Year(); y++ {
		for range n {
			out[[2]int{y, 1 + s.IntN(365)}] = true
		}
	}
	return out
}

func (s *rhythm) without(days map[[2]int]bool, level func(time.Time) float64) func(time.Time) float64 {
	return func(t time.Time) float64 {
		l := level(t)
		if days[[2]int{t.Year(), t.YearDay()}] {
			l *= 0.03
		}
		return l
	}
}

// growth makes a rate thirty times as high in the end.
func (s *rhythm) growth(level func(time.Time) float64) func(time.Time) float64 {
	return func(t time.Time) float64 {
		return level(t) * math.Pow(30, float64(t.Sub(s.start))/float64(s.end.Sub(s.start))) / 30
	}
}

// gaps stores ids whose gaps, in seconds, are given.
func (s *rhythm) gaps(next func() float64, batch func() int) {
	s.runs++
	for at := float64(s.start.Unix()); at < float64(s.end.Unix()); at += next() {
		for range batch() {
			s.ids = append(s.ids, rhythmID{int64(at), s.runs})
		}
	}
}

func one() int { return 1 }

// anyTime removes the ids of a time in the middle of the history, which begins at the
// given hour.
func (s *rhythm) anyTime(hourOfDay float64, length time.Duration) {
	part := 0.2 + 0.6*s.Float64()
	at := s.start.Add(time.Duration(part * float64(s.end.Sub(s.start))))
	y, m, d := at.Date()
	s.remove(time.Date(y, m, d, 0, 0, int(hourOfDay*hour), 0, s.zone), length)
}

func (s *rhythm) remove(at time.Time, length time.Duration) {
	from, to := at.Unix(), at.Add(length).Unix()
	s.ids = slices.DeleteFunc(s.ids, func(i rhythmID) bool { return i.second >= from && i.second < to })
	s.hole = [2]int64{from, to}
}

// shopHole removes the ids of a time that begins on a working day before noon.
func (s *rhythm) shopHole(length time.Duration) {
	for {
		part := 0.2 + 0.6*s.Float64()
		at := s.start.Add(time.Duration(part * float64(s.end.Sub(s.start))))
		y, m, d := at.Date()
		if workingDays(at) {
			s.remove(time.Date(y, m, d, 11, s.IntN(60), 0, 0, s.zone), length)
			return
		}
	}
}

var rhythms = []struct {
	name string
	days int
	play func(s *rhythm)
}{
	{"hourly, 30 days", 30, func(s *rhythm) { s.job(hours(0, 24, s.IntN(60)), 120, daily) }},
	{"hourly, 2 years", 730, func(s *rhythm) { s.job(hours(0, 24, s.IntN(60)), 60, daily) }},
	{"daily, 60 days", 60, func(s *rhythm) { s.job([]int{s.IntN(day)}, 600, daily) }},
	{"daily, 1 year", 365, func(s *rhythm) { s.job([]int{s.IntN(day)}, 600, daily) }},
	{"daily, 10 years", 3650, func(s *rhythm) { s.job([]int{s.IntN(day)}, 600, daily) }},
	{"daily, jitter of 3 hours", 365, func(s *rhythm) { s.job([]int{s.IntN(day)}, 3*hour, daily) }},
	{"weekly, 1 year", 364, func(s *rhythm) { s.job([]int{s.IntN(day)}, 600, on(time.Weekday(s.IntN(7)))) }},
	{"weekly, 2 years", 728, func(s *rhythm) { s.job([]int{s.IntN(day)}, 600, on(time.Weekday(s.IntN(7)))) }},
	{"weekly, 10 years", 3640, func(s *rhythm) { s.job([]int{s.IntN(day)}, 600, on(time.Weekday(s.IntN(7)))) }},
	{"fortnightly, 3 years", 1092, func(s *rhythm) {
		first := s.start.Unix()
		s.job([]int{3 * hour}, 600, func(t time.Time) bool { return (t.Unix()-first)/day%14 == 3 })
	}},
	{"monthly, 3 years", 1095, func(s *rhythm) {
		of := 1 + s.IntN(28)
		s.job([]int{s.IntN(day)}, 600, func(t time.Time) bool { return t.Day() == of })
	}},
	{"last of the month, 10 years", 3650, func(s *rhythm) {
		s.job([]int{23 * hour}, 600, func(t time.Time) bool { return t.AddDate(0, 0, 1).Day() == 1 })
	}},
	{"working days", 730, func(s *rhythm) { s.job([]int{s.IntN(day)}, 1800, workingDays) }},
	{"working days, 10 holidays", 730, func(s *rhythm) {
		off := s.holidays(10)
		s.job([]int{s.IntN(day)}, 1800, func(t time.Time) bool { return workingDays(t) && !off[[2]int{t.Year(), t.YearDay()}] })
	}},
	{"hourly 8-18", 90, func(s *rhythm) { s.job(hours(8, 19, s.IntN(60)), 120, daily) }},
	{"hourly 8-18, working days", 365, func(s *rhythm) { s.job(hours(8, 19, s.IntN(60)), 120, workingDays) }},
	{"hourly and daily", 120, func(s *rhythm) {
		s.job(hours(0, 24, 10), 120, daily)
		s.job([]int{3 * hour}, 600, daily)
	}},
	{"daily and weekly", 365, func(s *rhythm) {
		s.job([]int{s.IntN(day)}, 600, daily)
		s.job([]int{s.IntN(day)}, 600, on(time.Sunday))
	}},
	{"daily, 10 % skipped", 730, func(s *rhythm) { s.job([]int{s.IntN(day)}, 600, func(time.Time) bool { return s.Float64() > 0.1 }) }},
	{"hourly, 10 % skipped", 60, func(s *rhythm) {
		all := hours(0, 24, 20)
		for range 60 {
			run := slices.DeleteFunc(slices.Clone(all), func(int) bool { return s.Float64() < 0.1 })
			end := s.end
			s.end = s.start.AddDate(0, 0, 1)
			s.job(run, 60, daily)
			s.start, s.end = s.end, end
		}
		s.start = s.start.AddDate(0, 0, -60)
	}},
	{"every 6 hours", 90, func(s *rhythm) { s.job([]int{0, 6 * hour, 12 * hour, 18 * hour}, 300, daily) }},
	{"every 5 minutes", 14, func(s *rhythm) {
		var at []int
		for i := 0; i < day; i += 300 {
			at = append(at, i)
		}
		s.job(at, 20, daily)
	}},
	{"hourly on the edge", 60, func(s *rhythm) { s.job(hours(0, 24, 0), 120, daily) }},
	{"daily on the edge", 365, func(s *rhythm) { s.job([]int{0}, 900, daily) }},
	{"weekly on the edge", 728, func(s *rhythm) { s.job([]int{0}, 900, on(time.Monday)) }},
	{"retired", 730, func(s *rhythm) {
		half := s.start.AddDate(0, 0, 200+s.IntN(300))
		s.job([]int{s.IntN(day)}, 600, func(t time.Time) bool { return t.Before(half) })
		s.job([]int{s.IntN(day)}, 600, on(time.Tuesday))
	}},
	{"replaced: hourly, daily", 365, func(s *rhythm) {
		end, half := s.end, s.start.AddDate(0, 0, 100+s.IntN(100))
		s.end = half
		s.job(hours(0, 24, 30), 60, daily)
		s.start, s.end = half, end
		s.job([]int{s.IntN(day)}, 600, daily)
	}},
	{"replaced: weekly, daily", 730, func(s *rhythm) {
		half := s.start.AddDate(0, 0, 200+s.IntN(300))
		at := s.IntN(day)
		s.job([]int{at}, 600, func(t time.Time) bool { return !t.Before(half) || t.Weekday() == time.Friday })
	}},
	{"added", 365, func(s *rhythm) {
		half := s.start.AddDate(0, 0, 200)
		s.job([]int{s.IntN(day)}, 600, daily)
		start := s.start
		s.start = half
		s.job(hours(0, 24, 45), 60, daily)
		s.start = start
	}},
	{"shop", 365, func(s *rhythm) { s.shop(s.busy(), weekend) }},
	{"shop without nights", 120, func(s *rhythm) { s.gaps(func() float64 { return s.ExpFloat64() * 60 }, one) }},
	{"shop, holidays", 730, func(s *rhythm) { s.shop(s.busy(), s.without(s.holidays(10), weekend)) }},
	{"shop, growth, 10 years", 3650, func(s *rhythm) { s.shop(10*math.Pow(10, s.Float64()), s.growth(weekend)) }},
	{"shop, growth, holidays", 3650, func(s *rhythm) {
		s.shop(10*math.Pow(10, s.Float64()), s.growth(s.without(s.holidays(10), weekend)))
	}},
	{"small shop", 1095, func(s *rhythm) { s.shop(0.5+s.Float64(), weekend) }},
	{"sparse, 3 years", 1095, func(s *rhythm) { s.gaps(func() float64 { return s.ExpFloat64() * 7 * day / 3 }, one) }},
	{"sparse, 10 years", 3650, func(s *rhythm) { s.gaps(func() float64 { return s.ExpFloat64() * 7 * day / 3 }, one) }},
	{"Pareto batches", 365, func(s *rhythm) {
		s.gaps(func() float64 { return s.ExpFloat64() * 4 * hour }, func() int { return int(min(math.Pow(s.Float64(), -1/1.2), 10_000)) })
	}},
	{"daily, Pareto batches", 730, func(s *rhythm) {
		for d := range 730 {
			s.batch(s.start.Unix()+int64(d)*day+7200, int(min(5*math.Pow(s.Float64(), -1/1.2), 10_000)), 300)
		}
	}},
	{"Cox process", 365, func(s *rhythm) {
		s.shop(s.busy(), func(t time.Time) float64 { return weekend(t) * math.Exp(s.NormFloat64()) })
	}},
	{"Pareto gaps", 365, func(s *rhythm) {
		s.gaps(func() float64 { return 30 * 60 * math.Pow(s.Float64(), -1/1.6) }, one)
	}},
	{"lognormal gaps", 365, func(s *rhythm) {
		s.gaps(func() float64 { return 30 * 60 * math.Exp(1.5*s.NormFloat64()) }, one)
	}},
	{"closed in August", 1825, func(s *rhythm) { s.shop(s.busy()/3, func(t time.Time) float64 { return weekend(t) * open(t) }) }},
	{"closed in August, 2 or 3 times", 900, func(s *rhythm) { s.shop(s.busy()/3, func(t time.Time) float64 { return weekend(t) * open(t) }) }},
	{"daily job, off at Christmas", 1825, func(s *rhythm) {
		s.job([]int{s.IntN(day)}, 600, func(t time.Time) bool { return t.Month() != time.December || t.Day() < 24 })
	}},
}

// mayHave are the events that collections may have: the largest of batches whose sizes have
// a heavy tail, and the longest of such gaps.
var mayHave = map[string][]string{
	"Pareto batches": {"likely import"}, "daily, Pareto batches": {"likely import"}, "Cox process": {"likely import"},
	"Pareto gaps": {"possible outage"}, "lognormal gaps": {"possible outage"},
}

// busy returns how many ids an hour a shop has.
func (s *rhythm) busy() float64 { return 10 * math.Pow(10, s.Float64()) }

func open(t time.Time) float64 {
	if t.Month() == time.August {
		return 0
	}
	return 1
}

// two removes two runs of a job, which are a period apart.
func two(kind string, period time.Duration) func(s *rhythm) {
	return func(s *rhythm) {
		playRhythm(s, kind)
		seconds := map[int64]bool{}
		for _, i := range s.ids {
			seconds[i.second] = true
		}
		// In the middle between two runs, until the middle of two others.
		part := 0.2 + 0.6*s.Float64()
		at := s.start.Add(time.Duration(part * float64(s.end.Sub(s.start)))).Unix()
		slices.SortFunc(s.ids, func(a, b rhythmID) int { return cmp.Compare(a.second, b.second) })
		i, _ := slices.BinarySearchFunc(s.ids, at, func(i rhythmID, at int64) int { return cmp.Compare(i.second, at) })
		for s.ids[i].second-s.ids[i-1].second < int64(period.Seconds()/2) {
			i++
		}
		s.remove(time.Unix((s.ids[i].second+s.ids[i-1].second)/2, 0), 2*period)
	}
}

func playRhythm(s *rhythm, kind string) {
	for _, k := range rhythms {
		if k.name == kind {
			k.play(s)
			return
		}
	}
	panic(kind)
}

// plantedRhythms are kinds with an outage.
var plantedRhythms = []struct {
	name string
	days int
	play func(s *rhythm)
}{
	{"2 of hourly, 30 days", 30, two("hourly, 30 days", time.Hour)},
	{"2 of hourly, 2 years", 730, two("hourly, 2 years", time.Hour)},
	{"2 of daily, 60 days", 60, two("daily, 60 days", 24*time.Hour)},
	{"2 of daily, 1 year", 365, two("daily, 1 year", 24*time.Hour)},
	{"2 of daily, 10 years", 3650, two("daily, 10 years", 24*time.Hour)},
	{"2 of weekly, 1 year", 364, two("weekly, 1 year", 7*24*time.Hour)},
	{"2 of weekly, 10 years", 3640, two("weekly, 10 years", 7*24*time.Hour)},
	{"2 of fortnightly, 3 years", 1092, two("fortnightly, 3 years", 14*24*time.Hour)},
	{"2 of monthly, 3 years", 1095, two("monthly, 3 years", 30*24*time.Hour)},
	{"2 of working days", 730, func(s *rhythm) {
		playRhythm(s, "working days")
		d := s.start.AddDate(0, 0, 150+s.IntN(400))
		for d.Weekday() != time.Tuesday {
			d = d.AddDate(0, 0, 1)
		}
		s.remove(d, 48*time.Hour)
	}},
	{"2 of hourly 8-18", 90, func(s *rhythm) {
		playRhythm(s, "hourly 8-18")
		s.remove(s.start.AddDate(0, 0, 20+s.IntN(50)).Add(11*time.Hour-5*time.Minute), 2*time.Hour)
	}},
	{"2 hours of hourly and daily", 120, func(s *rhythm) {
		playRhythm(s, "hourly and daily")
		s.remove(s.start.AddDate(0, 0, 20+s.IntN(50)).Add(11*time.Hour), 2*time.Hour)
	}},
	{"2 of every 6 hours", 90, two("every 6 hours", 6*time.Hour)},
	{"3 of every 5 minutes", 14, two("every 5 minutes", 8*time.Minute)},
	{"6 h in a shop", 365, func(s *rhythm) { playRhythm(s, "shop"); s.shopHole(6 * time.Hour) }},
	{"6 h in a growing shop", 3650, func(s *rhythm) { playRhythm(s, "shop, growth, 10 years"); s.shopHole(6 * time.Hour) }},
	{"a day in a shop", 365, func(s *rhythm) { playRhythm(s, "shop"); s.shopHole(24 * time.Hour) }},
	{"a day in a shop with holidays", 730, func(s *rhythm) { playRhythm(s, "shop, holidays"); s.shopHole(24 * time.Hour) }},
	{"a day, growth, holidays", 3650, func(s *rhythm) { playRhythm(s, "shop, growth, holidays"); s.shopHole(24 * time.Hour) }},
	{"15 min, 1 id/s", 10, func(s *rhythm) {
		s.gaps(func() float64 { return s.ExpFloat64() }, one)
		s.anyTime(11, 15*time.Minute)
	}},
	{"5 weeks of sparse, 3 years", 1095, func(s *rhythm) { playRhythm(s, "sparse, 3 years"); s.anyTime(0, 35*24*time.Hour) }},
	{"5 weeks of sparse, 10 years", 3650, func(s *rhythm) { playRhythm(s, "sparse, 10 years"); s.anyTime(0, 35*24*time.Hour) }},
	{"May, closed in August", 1825, func(s *rhythm) {
		playRhythm(s, "closed in August")
		s.remove(time.Date(s.start.Year()+2, time.May, 3, 0, 0, 0, 0, time.UTC), 10*24*time.Hour)
	}},
}

func (s *rhythm) report(t *testing.T) *census.Report {
	slices.SortFunc(s.ids, func(a, b rhythmID) int { return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.second, b.second)) })
	ids := make([]objectid.ID, len(s.ids))
	counter, value := uint32(0), uint64(0)
	for i, of := range s.ids {
		if of.value != value {
			value, counter = of.value, s.Uint32()
		}
		counter++
		binary.BigEndian.PutUint64(ids[i][4:], value*0x9E3779B97F4A7C15&^0xFFFFFF|uint64(counter&0xFFFFFF))
		binary.BigEndian.PutUint32(ids[i][:4], uint32(of.second))
	}
	return reportOf(t, ids, &census.Options{Now: s.end.AddDate(1, 0, 0)}, &census.ReportOptions{Zone: s.zone})
}

// rhythmSeeds returns the seeds that are played: those of OID_RHYTHMS, from-to, of which
// the results are printed, or few.
func rhythmSeeds(days int) (from, to uint64, all bool) {
	if a, b, ok := strings.Cut(os.Getenv("OID_RHYTHMS"), "-"); ok {
		from, _ = strconv.ParseUint(a, 10, 64)
		to, _ = strconv.ParseUint(b, 10, 64)
		return from, to, true
	}
	if days > 2000 {
		return 0, 1, false
	}
	return 0, testenv.Size[uint64](1, 2), false
}

// TestRhythms holds that jobs and shops have no outages, imports and deletions.
// Where lengths of gaps have a heavy tail, outages are possible ones.
func TestRhythms(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for _, k := range rhythms {
		from, to, all := rhythmSeeds(k.days)
		with := map[string]int{} // how many collections have events
		for seed := from; seed < to; seed++ {
			s := newRhythm(seed, k.days)
			if strings.HasPrefix(k.name, "shop") && seed%2 == 1 {
				s.local(t)
			}
			k.play(s)
			if seed%4 == 1 {
				s.zone = time.UTC // which is not known for the report
			}
			had := map[string]bool{}
			for _, e := range s.report(t).Events {
				had[fmt.Sprintf("%s %s", e.Confidence, e.Kind)] = true
			}
			for kind := range had {
				with[kind]++
			}
		}
		if all {
			fmt.Printf("%-32s %v\n", k.name, with)
			continue
		}
		for kind := range with {
			if !slices.Contains(mayHave[k.name], kind) {
				t.Errorf("%s: %s", k.name, kind)
			}
		}
	}
}

// mayMiss are the kinds of which not all outages are found.
var mayMiss = map[string]bool{
	"a day, growth, holidays": true, "a day in a shop with holidays": true, "6 h in a growing shop": true,
	"5 weeks of sparse, 3 years": true, "5 weeks of sparse, 10 years": true, "3 of every 5 minutes": true, "2 of every 6 hours": true,
}

// TestOutagesAreFound holds that planted outages of these rhythms are found, and nothing
// else is.
func TestOutagesAreFound(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for _, k := range plantedRhythms {
		from, to, all := rhythmSeeds(k.days)
		found, wrong := map[census.Confidence]int{}, 0
		for seed := from; seed < to; seed++ {
			s := newRhythm(seed, k.days)
			k.play(s)
			var hit census.Confidence
			for _, e := range s.report(t).Events {
				switch {
				case e.Kind != census.KindOutage:
				case e.Start.Unix() <= s.hole[0]+hour && e.End.Unix() >= s.hole[1]-hour:
					if hit = e.Confidence; e.Usual == "" {
						t.Errorf("%s: nothing is usual", k.name)
					}
				default:
					wrong++
				}
			}
			found[hit]++
		}
		missed := found[""]
		delete(found, "")
		switch {
		case all:
			fmt.Printf("%-32s %v, missed %d, false %d\n", k.name, found, missed, wrong)
		case wrong > 0 || missed > 0 && !mayMiss[k.name]:
			t.Errorf("%s: %d missed, %d false, found %v", k.name, missed, wrong, found)
		}
	}
}
