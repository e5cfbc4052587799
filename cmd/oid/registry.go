package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/backoff"
	"github.com/oidkit/oid/internal/classic"
	"github.com/oidkit/oid/internal/failure"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// registry returns the registry in the store s that was opened.
func (f *storeFlag) registry(s store.Store) *registry.Registry {
	return registry.New(s, &registry.Options{OneHost: f.oneHost()})
}

// oneHost reports whether only this host can reach the store.
func (f *storeFlag) oneHost() bool {
	e, err := f.engine()
	return err == nil && e.oneHost
}

// A tracer gives up the trace of an id after patience, and other requests after askFor.
const (
	patience = 2 * time.Second
	askFor   = 10 * time.Second
)

// tracer finds the processes of ids for commands that show them beside other things. While the
// store fails or does not exist, it finds none, and asks again after pauses that grow from a
// second to a minute: a command that follows a log does not wait for the store, and shows the
// processes again when the store answers. Any number of goroutines may share a tracer.
type tracer struct {
	*registry.Tracer
	store store.Store
	where *storeFlag

	mu       sync.Mutex
	again    time.Time // when to ask again; zero if the store answered the last request
	pause    backoff.Backoff
	reported bool  // whether the present failure was reported
	failed   error // errReported after a failure was reported
}

// openTracer opens the registry. The file of OID_STORE, or that of the default, may not exist
// yet. A store that --store names must be there.
func (f *storeFlag) openTracer(ctx context.Context) (*tracer, error) {
	opening, stop := context.WithTimeout(ctx, askFor)
	defer stop()
	s, err := f.openToRead(opening)
	if f.mayBeMissing(err) {
		s, err = store.OpenLater(f.openToRead), nil
	}
	if err != nil {
		return nil, err
	}
	t := &tracer{where: f, pause: backoff.Backoff{First: time.Second, Max: time.Minute}}
	t.use(s)
	return t, nil
}

func (t *tracer) use(s store.Store) { t.Tracer, t.store = registry.NewTracer(t.where.registry(s)), s }

// Close closes the store. If the store has failed before, Close returns errReported.
func (t *tracer) Close() error {
	if t == nil {
		return nil
	}
	return cmp.Or(t.failed, t.store.Close())
}

// mayBeMissing reports whether err means that the store does not exist, and no flag named it.
func (f *storeFlag) mayBeMissing(err error) bool {
	return f.url == "" && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoDataFolder))
}

// trace returns the trace of id, or nil while the store fails or does not exist. It reports on std
// when the store begins to fail, and when the store answers again.
func (t *tracer) trace(ctx context.Context, std streams, id objectid.ID) *registry.Trace {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Now().Before(t.again) {
		return nil
	}
	asked, stop := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the store has not answered for %v", patience))
	defer stop()
	found, err := t.Trace(asked, id)
	if err != nil && asked.Err() != nil {
		err = context.Cause(asked)
	} else if err != nil { // open the store again: its file may be another one by now
		go t.store.Close()
		t.use(store.OpenLater(t.where.openToRead))
	}
	if t.learn(ctx, std, err); err != nil {
		return nil
	}
	return &found
}

// learn reports a failure of the store and its end, and plans the next request.
func (t *tracer) learn(ctx context.Context, std streams, err error) {
	switch {
	case err == nil && t.reported:
		std.warn("the store answers again; processes are shown")
		fallthrough
	case err == nil:
		t.again, t.reported = time.Time{}, false
		t.pause.Reset()
		return
	case ctx.Err() != nil:
		t.failed = cmp.Or(t.failed, context.Cause(ctx))
	case !t.reported && !t.where.mayBeMissing(err):
		std.warn("processes are not shown until the store answers: %v", err)
		t.reported, t.failed = true, errReported
	}
	t.again = time.Now().Add(t.pause.Next())
}

// deploys returns the deploys between two times of the services whose processes created the ids.
// It returns none while the store fails or does not exist.
func (t *tracer) deploys(ctx context.Context, std streams, ids []objectid.ID, from, to time.Time) (out []census.Event) {
	if t == nil || !t.again.IsZero() {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, askFor)
	defer stop()
	found, err := t.Deploys(ctx, ids...)
	t.learn(ctx, std, err)
	for _, d := range found {
		if !d.First && !d.Time.Before(from) && d.Time.Before(to) {
			out = append(out, census.Event{Kind: census.KindDeploy, Start: d.Time, End: d.Time, Service: d.Service, Version: d.Version, Confidence: census.ConfidenceLikely})
		}
	}
	slices.SortStableFunc(out, func(a, b census.Event) int { return a.Start.Compare(b.Start) })
	return out
}

// traceAgain returns the trace of id with the deploy of the process. The input may grow if it is a
// log that is followed: then traceAgain reports that the store is away, and asks again, so that no
// id is left out.
func traceAgain(ctx context.Context, std streams, tracer *registry.Tracer, id objectid.ID, mayGrow bool) (registry.Trace, error) {
	for pause := (backoff.Backoff{First: time.Second, Max: time.Minute}); ; {
		found, err := tracer.Trace(ctx, id)
		if err == nil {
			found.Deploy, err = tracer.Deploy(ctx, &found)
		}
		if err == nil || !mayGrow || !failure.Of(err).Retry() {
			return found, err
		}
		wait := pause.Next().Round(time.Second / 10)
		std.warn("%v: %v; asking again in %v", id, err, wait)
		if err := backoff.Sleep(ctx, wait); err != nil {
			return found, err
		}
	}
}

// processLine returns the process of a trace on one line, or its host and pid, or the
// verdict, or "" if no registered process has used the process value.
func processLine(t *registry.Trace) string {
	switch {
	case t == nil || t.Verdict == registry.Unknown && t.Classic == nil:
		return ""
	case t.Verdict == registry.Unknown:
		return fmt.Sprintf("host %s, pid %d: not recorded", phrase.Shown(t.Classic.Host), t.Classic.PID)
	case t.Verdict == registry.Known || t.Verdict == registry.Claimed:
		p := t.Processes[0]
		return fmt.Sprintf("%s%s %v (%s)", claimedBy(t), phrase.Shown(p.Name), p.GPID, p.State)
	default:
		return fmt.Sprintf("%s: %s", t.Verdict, t.Reason)
	}
}

// claimedBy returns the words before the name of the process: none if it is known.
func claimedBy(t *registry.Trace) string {
	if t.Verdict == registry.Claimed {
		return "claimed by "
	}
	return ""
}

// namer returns a function that returns the process of an id, or "". A process is named as the
// registry knows it or, if it does not, by this host and its pid if the id has them in the classic
// layout.
func (t *tracer) namer(ctx context.Context, std streams) func(objectid.ID) string {
	host, err := os.Hostname()
	return func(id objectid.ID) string {
		found := t.trace(ctx, std, id)
		machine, pid := classic.Split(id)
		switch {
		case found == nil && err == nil && machine == classic.Machine(host):
			return fmt.Sprintf("host %s, pid %d", phrase.Shown(host), pid)
		case found != nil && (found.Verdict == registry.Conflict || found.Verdict == registry.Collision):
			return ""
		}
		return processLine(found)
	}
}
