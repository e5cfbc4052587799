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

	// newest is the age below which an id is always looked up, so that the process that
	// created it is found if it registered a moment ago. It is more than the clocks of two
	// hosts differ.
	newest = time.Minute

	// maxTraces bounds the remembered traces of known ids, and those of other ids.
	maxTraces = 1000

	maxClaims     = 10_000 // bounds the claims, and the hosts, that are read: 10,000 take about 20 ms
	claimsInTrace = 16     // at least so many claims are read in the time of one trace
	fewUnknown    = 16     // traces of unknown ids before the claims are read
)

// Tracer traces many ids, such as those of a log or of the requests to a server. It answers
// as [Registry.Trace] does, but asks the store for few of the ids: for one second it
// remembers what it has read.
//
//   - It remembers the traces of at most 1,000 Known ids and of at most 1,000 others. All ids
//     with one process value and one creation time share a trace.
//   - After 16 Unknown ids it reads all process values and hosts that are recorded, if there
//     are at most 10,000 of each. An id with another process value and another host is then
//     Unknown without a call of the store. This does not apply to ids that were created
//     within the last minute, so that the first id of a process is Known even if the
//     process registered a moment ago.
//
// The trace of an id is therefore at most one second old. [Tracer.Forget] ends that second
// early, for a program that has changed the registry itself. A Tracer takes a few megabytes at
// most and starts no goroutines. Any number of goroutines may share it.
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
}

// traceKey is the part of an id that its trace depends on: its second and process value.
type traceKey [9]byte

type keptTrace struct {
	trace Trace
	asked time.Time
}

// NewTracer returns a Tracer for the ids of the processes in r.
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

// Remembered returns the trace of id if that needs no call of the store.
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

// remember keeps a trace that was asked for at a time, unless the registry has changed since.
// It reports whether to read the claims now, because without them unknown ids have taken as
// long as reading them takes.
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

// newest returns the creation time before which the claims that are read now answer.
func (t *Tracer) newest() time.Time { return wall(t.registry.options.Now).Add(-newest) }

// readClaims reads all claims. If that fails, each id is looked up as before.
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

// Forget makes the Tracer read everything again. Call it after a change of the registry that
// the next trace has to show, also if the change may have failed.
func (t *Tracer) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.known)
	clear(t.others)
	t.claims, t.covers, t.changed = nil, time.Time{}, time.Now()
}

// claimSet has how the process values of all ids begin that a trace can find: blocks that are
// claimed or in which a value is claimed, and the machine bytes that drivers of the classic
// layout write for the recorded hosts and for this one. Both are in hexadecimal.
type claimSet map[string]struct{}

const (
	blockDigits   = 8
	machineDigits = 6
)

// readClaims reads the claims and the hosts. It returns nil if the registry has more claims
// than most, or more hosts.
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

// has reports whether a trace may find a process of id, or its host.
func (c claimSet) has(id objectid.ID) bool {
	var value [blockDigits]byte
	hex.Encode(value[:], id[4:8])
	_, block := c[string(value[:])]
	_, machine := c[string(value[:machineDigits])]
	return block || machine
}
