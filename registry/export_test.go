package registry

import (
	"io"
	"time"
)

// Record is the document of a process.
type Record = record

// RecordOf returns the document of p.
func RecordOf(p Process) Record { return recordOf(p) }

// SetRandom sets the source of the blocks of r, which is not shared yet.
func (r *Registry) SetRandom(random io.Reader) { r.random = random }

// SetKeepSamples sets for how long the processes of r keep their samples.
func (r *Registry) SetKeepSamples(d time.Duration) { r.keepSamples = d }
