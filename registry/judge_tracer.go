package registry

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/oidkit/oid/internal/classic"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

const (
	// tracerAge is how long a Tracer remembers what it has read.
	tracerAge = time.Second

	// newest is the age below which ids are always looked up, so that a process is found
	// that registered a moment ago. It is more than the clocks of two hosts should differ.
	newest = time.Minute

	// maxTraces bounds the remembered traces of known ids, and separately those of other
	// ids.
	maxTraces = 1000

	maxClaims     = 10_000 // bounds the claims, and the hosts, that are read: 10,000 take about 20 ms
	claimsInTrace = 16     // at least so many claims are read in the time of one trace
	fewUnknown    = 16     // traces of unknown ids before the claims are read
)

// Tracer traces many ids, such as those of a log or of requests to a server. It returns the
// traces of [Registry.Trace], but seldom asks the store, because it caches for one second:
//
//   - Traces: up to 1,000 of Known ids, and up to 1,000 of other ids. Ids with the same
//     process value and creation time share a trace.
//   - Recorded process values and hosts, all of them, if there are at most 10,000 of each.
//     The Tracer reads them after 16 Unknown ids. An id with a process value and a host that
//     are not among them is then Unknown without a call of the store, unless it was created
//     in the last minute: its process may have registered a moment ago.
//
// A Tracer takes a few megabytes at most and starts no goroutines. Any number of goroutines
// may share it.
type Tracer struct {
	registry  *Registry
	maxClaims int // see maxClaims

	mu      sync.Mutex
	known   map[traceKey]keptTrace
	others  map[traceKey]keptTrace // apart from known, because anybody can invent ids
	claims  claimSet               // nil until it is read
	covers  time.Time              // the claims answer for ids that were created before this time
	read    time.Time              // when reading claims began
	unknown int                    // ids since then for which the claims would have answered
	worth   int                    // how many traces take as long as reading the claims again
	changed time.Time              // when Forget was last called

	reading      sync.Mutex // held while the deploys are read
	deploys      []Deploy
	deploysUntil time.Time // until when the deploys are remembered
}

// traceKey is the part of an id that determines its trace: the creation time and the
// process value.
type traceKey [9]byte

type keptTrace struct {
	trace Trace
	asked time.Time
}

// NewTracer returns a Tracer for the processes in r.
func NewTracer(r *Registry) *Tracer {
	return &Tracer{registry: r, maxClaims: maxClaims, known: map[traceKey]keptTrace{}, others: map[traceKey]keptTrace{}, worth: fewUnknown}
}

// Trace finds the process that created id. Do not change what the trace points to: the
// Tracer may return it again.
func (t *Tracer) Trace(ctx context.Context, id objectid.ID) (Trace, error) {
	if found, ok := t.Remembered(id); ok {
		return found, nil
	}
	asked := time.Now()
	found, err := t.registry.Trace(ctx, id)
	if err == nil && t.remember(&found, asked) {
		t.readClaims(ctx)
	}
	return found, err
}

// Remembered returns the trace of id if the Tracer knows it without a call of the store.
func (t *Tracer) Remembered(id objectid.ID) (found Trace, ok bool) {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if id.Time().Before(t.covers) && now.Sub(t.read) <= tracerAge && !t.claims.has(id) {
		return unknown(id), true
	}
	for _, kept := range []map[traceKey]keptTrace{t.known, t.others} {
		if k, there := kept[traceKey(id[:9])]; there && now.Sub(k.asked) <= tracerAge {
			k.trace.ID = id
			return k.trace, true
		}
	}
	return found, false
}

// remember keeps a trace that was requested at a time, unless Forget was called since. It
// reports whether to read the claims now: the unknown ids so far have taken as long as
// reading the claims takes.
func (t *Tracer) remember(found *Trace, asked time.Time) (readClaims bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !asked.After(t.changed) {
		return false
	}
	kept := t.others
	if found.Verdict == Known {
		kept = t.known
	}
	if len(kept) >= maxTraces {
		clear(kept)
	}
	kept[traceKey(found.ID[:9])] = keptTrace{*found, asked}
	if found.Verdict != Unknown || !found.ID.Time().Before(t.newest()) {
		return false
	}
	t.unknown++
	return t.unknown == t.worth
}

// newest returns the creation time before which claims that are read now can answer.
func (t *Tracer) newest() time.Time { return wall(t.registry.options.Now).Add(-newest) }

// readClaims reads all claims. If that fails, ids are looked up one by one as before.
func (t *Tracer) readClaims(ctx context.Context) {
	began, covers := time.Now(), t.newest()
	found, err := t.registry.readClaims(ctx, t.maxClaims)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unknown, t.worth = 0, fewUnknown
	switch {
	case found != nil && began.After(t.changed):
		t.claims, t.covers, t.read = found, covers, began
		t.worth = max(fewUnknown, len(found)/claimsInTrace)
	case found == nil && err == nil: // the registry has too many claims, and will have them for a while
		t.worth = t.maxClaims
	}
}

// Forget discards what the Tracer remembers. Call it after a change of the registry that
// the next trace must show, even if the change may have failed.
func (t *Tracer) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.known)
	clear(t.others)
	t.claims, t.covers, t.changed = nil, time.Time{}, time.Now()
}

// claimSet contains the beginnings, in hexadecimal, of all process values that a trace can
// find: claimed blocks, blocks of adopted values, and the machine bytes that drivers of the
// classic layout write on the recorded hosts and on this one.
type claimSet map[string]struct{}

const (
	blockDigits   = 8
	machineDigits = 6
)

// readClaims reads the claims and the hosts. It returns nil if there are more than most
// claims, or more than most hosts.
func (r *Registry) readClaims(ctx context.Context, most int) (claimSet, error) {
	found := claimSet{}
	if host, err := os.Hostname(); err == nil {
		found[classic.Machine(host)] = struct{}{}
	}
	for collection, digits := range map[string]int{claimRecords: blockDigits, hostRecords: machineDigits} {
		n := 0
		for raw, err := range r.store.Find(ctx, collection, store.Query{Limit: most + 1}) {
			if err != nil {
				return nil, fmt.Errorf("registry: read %s: %w", collection, err)
			}
			if n++; n > most {
				return nil, nil
			}
			key, _ := raw.Lookup("_id").StringValueOK()
			found[strings.Clone(key[:min(len(key), digits)])] = struct{}{}
		}
	}
	return found, nil
}

// has reports whether a trace may find a process for id, or its host.
func (c claimSet) has(id objectid.ID) bool {
	var value [blockDigits]byte
	hex.Encode(value[:], id[4:8])
	_, block := c[string(value[:])]
	_, machine := c[string(value[:machineDigits])]
	return block || machine
}
