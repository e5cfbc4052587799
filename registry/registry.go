package registry

import (
	"crypto/rand"
	"io"
	"log/slog"
	"time"

	"github.com/oidkit/oid/store"
)

// Registry is the registry in one store: it records processes and traces ids to
// them. Keep one for a long time: it learns by watching which late processes of
// other hosts are dead, and its members use the same knowledge. Any number of
// goroutines may share it.
type Registry struct {
	store       *outages
	options     Options
	here        here
	random      io.Reader     // blocks are drawn from it
	keepSamples time.Duration // see keepSamples
	pruneAtOnce int           // see pruneAtOnce
	pruneBatch  int           // see pruneBatch
	maxRead     int           // see maxRead

	memory memory
}

// New returns the registry in s, which it uses as [store.Consistent] returns it. A
// nil o stands for the zero Options.
func New(s store.Store, o *Options) *Registry {
	r := &Registry{
		store: &outages{Store: newBatches(store.Consistent(s))}, here: findHere(), random: rand.Reader,
		keepSamples: keepSamples, pruneAtOnce: pruneAtOnce, pruneBatch: pruneBatch, maxRead: maxRead,
	}
	if o != nil {
		r.options = *o
	}
	if r.options.Log == nil {
		r.options.Log = slog.Default()
	}
	return r
}
