package census

import (
	"fmt"

	"github.com/oidkit/oid/internal/phrase"
)

// busyHour is how many ids an hour has in which one end of an index may be a bottleneck:
// 100 a second, with seconds that have several times as many.
const busyHour = 100 * secondsPerHour

// advice returns what the numbers of a collection suggest.
func (r *Report) advice() []string {
	out := []string{}
	for _, p := range r.Rates.Busiest {
		if p.Length == Hour && p.IDs >= busyHour && r.Field == "_id" {
			out = append(out, fmt.Sprintf("Up to %s an hour were created, and each is above all earlier ones: every insert goes to the same end of the index, and, sharded by _id, to one shard. A hashed shard key distributes them; a range of _id then asks every shard.",
				phrase.Count(p.IDs, "id", "ids")))
		}
	}
	return out
}
