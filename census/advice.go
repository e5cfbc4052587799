package census

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/objectid"
)

const (
	busySecond = 500                 // ids, from which one end of an index is a bottleneck
	busyHour   = 60 * busySecond     // ids, below which that is over soon: a small import
	oldAge     = 365 * secondsPerDay // seconds, from which documents may be too old
	oldShare   = 4                   // one in so many documents, from which that matters
)

// advice returns what the numbers of a collection suggest.
func (r *Report) advice() []string {
	out := []string{}
	busiest := map[Step]int64{}
	for _, p := range r.Rates.Busiest {
		busiest[p.Length] = p.IDs
	}
	if busiest[Second] >= busySecond && busiest[Hour] >= busyHour && r.Field == "_id" {
		out = append(out, fmt.Sprintf("Up to %s a second were created, and each is above all earlier ones: every insert goes to the same end of the index, and, sharded by _id, to one shard. A hashed shard key distributes them; a range of _id then asks every shard.",
			phrase.Count(busiest[Second], "id", "ids")))
	}
	if r.First == nil || r.Field != "_id" {
		return out
	}
	limit := r.ReferenceTime.Add(-oldAge * time.Second).Truncate(time.Second)
	var old int64
	for i, b := range r.Timeline.Buckets {
		if i+1 < len(r.Timeline.Buckets) && !r.Timeline.Buckets[i+1].Start.After(limit) {
			old += b.IDs
		}
	}
	if old > 0 && old*oldShare >= r.Distinct {
		out = append(out, fmt.Sprintf("At least %s of %s ids are older than a year. If documents expire with age, _id serves as the time: delete where _id is below ObjectId(\"%v\"), without an index of its own on a date.",
			humanize.Comma(old), humanize.Comma(r.Distinct), objectid.At(limit)))
	}
	return out
}
