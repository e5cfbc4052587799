package towire

import (
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

// Load returns l without what was not measured.
func Load(l registry.Load) wire.Load {
	return wire.Load{
		CPUSeconds: measured(l.CPU.Seconds()), MemoryBytes: measured(l.RSS), HeapBytes: measured(l.Heap),
		Files: measured(l.Files), Threads: measured(l.Threads), Goroutines: measured(l.Goroutines),
	}
}

// measured returns n, or nil if n is below 0, as registry.Unmeasured.
func measured[N int64 | float64](n N) *N {
	if n < 0 {
		return nil
	}
	return &n
}

// FromLoad returns l with registry.Unmeasured for what is absent.
func FromLoad(l wire.Load) registry.Load {
	count := func(n *int64) int64 {
		if n == nil {
			return registry.Unmeasured
		}
		return *n
	}
	out := registry.Load{
		CPU: registry.Unmeasured, RSS: count(l.MemoryBytes), Heap: count(l.HeapBytes),
		Files: count(l.Files), Threads: count(l.Threads), Goroutines: count(l.Goroutines),
	}
	if l.CPUSeconds != nil {
		out.CPU = time.Duration(*l.CPUSeconds * float64(time.Second))
	}
	return out
}

// LoadTexts returns the numbers of l for people, as "memory 11 MiB" and "13 files",
// without what was not measured and without times that the process has used.
func LoadTexts(l registry.Load) (out []string) {
	for _, f := range registry.LoadFields {
		switch n := *f.Of(&l); {
		case n < 0 || f.Unit == registry.Nanoseconds:
		case f.Unit == registry.Bytes:
			out = append(out, f.Title+" "+humanize.IBytes(uint64(n)))
		default:
			out = append(out, phrase.Count(n, strings.TrimSuffix(f.Title, "s"), f.Title))
		}
	}
	return out
}
