package census_test

import (
	"encoding/hex"
	"time"

	"github.com/oidkit/oid/objectid"
)

// slowCensus counts ids the way one would without a thought of speed or memory.
type slowCensus struct {
	distinct int64
	repeated int64
	bounds   int64
	future   int64 // different ones
	beyond   int64 // ids from the future and too early
	early    int64
	days     map[string]int64
	writers  map[string]slowWriter
}

type slowWriter struct {
	ids         int64
	first, last time.Time
}

func countSlowly(ids []objectid.ID, now time.Time, zone *time.Location) slowCensus {
	s := slowCensus{days: map[string]int64{}, writers: map[string]slowWriter{}}
	seen := map[objectid.ID]int{}
	for _, id := range ids {
		seen[id]++
		tail := hex.EncodeToString(id[4:])
		isBound := tail == "0000000000000000" || tail == "ffffffffffffffff"
		isFuture := id.Time().After(now.Add(5 * time.Minute))
		isEarly := id.Time().Year() < 2009
		switch {
		case isBound:
			s.bounds++
			continue
		case isFuture:
			s.beyond++
			if seen[id] == 1 {
				s.future++
			}
		case isEarly:
			s.beyond++
			if seen[id] == 1 {
				s.early++
			}
		default:
			s.days[id.Time().In(zone).Format(time.DateOnly)]++
		}
		if seen[id] == 1 {
			w := s.writers[hex.EncodeToString(id[4:9])]
			if w.ids == 0 || id.Time().Before(w.first) {
				w.first = id.Time()
			}
			if w.ids == 0 || id.Time().After(w.last) {
				w.last = id.Time()
			}
			w.ids++
			s.writers[hex.EncodeToString(id[4:9])] = w
		}
	}
	s.distinct = int64(len(seen))
	for _, n := range seen {
		if n > 1 {
			s.repeated++
		}
	}
	return s
}
