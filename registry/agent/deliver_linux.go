package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

const (
	maxQueue = 100_000         // heartbeats that are kept while the sink is away, 8 MB
	maxBatch = 2000            // heartbeats of one call
	atOnce   = 16              // calls of the sink
	callTime = 5 * time.Second // of a call of the sink, at most
	lastTime = 3 * time.Second // of the calls at the end of the agent
	again    = time.Second     // after a call of the sink that failed
	scan     = 500 * time.Millisecond
)

// measured is a heartbeat that is to be sent.
type measured struct {
	p    *process
	at   time.Time
	load registry.Load
}

// measure measures the load of each process once an interval.
func (a *agent) measure(ctx context.Context) {
	tick := time.NewTicker(scan)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var due []*process
		now := time.Now()
		a.mu.Lock()
		for p := range a.processes {
			if p.Ended.IsZero() && !now.Before(p.due) {
				due, p.due = append(due, p), now.Add(p.Interval)
			}
		}
		a.mu.Unlock()
		for _, p := range due {
			load, end := p.of().Measure()
			a.mu.Lock()
			switch {
			case !p.Ended.IsZero():
			case end != "":
				a.end(p, end)
			default:
				a.enqueue(measured{p, time.Now(), load})
			}
			a.mu.Unlock()
		}
		if len(due) > 0 {
			a.wake()
		}
	}
}

// enqueue adds a heartbeat. If there are too many, the oldest is lost.
func (a *agent) enqueue(m measured) {
	if len(a.queue) >= maxQueue {
		a.queue[0].p.queued--
		a.queue = a.queue[1:]
	}
	a.queue = append(a.queue, m)
	m.p.queued++
}

// deliver passes to the sink what is to be recorded, until ctx ends.
func (a *agent) deliver(ctx context.Context) {
	tick := time.NewTicker(again)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
			defer cancel()
			a.pass(last)
			return
		case <-tick.C:
		case <-a.poke:
		}
		a.pass(ctx)
	}
}

// pass calls the sink once for all that is to be recorded now.
func (a *agent) pass(ctx context.Context) {
	a.mu.Lock()
	waits := time.Now().Before(a.retry) && a.away
	todo := make([]*process, 0, len(a.todo))
	for p := range a.todo {
		todo = append(todo, p)
	}
	a.mu.Unlock()
	if waits {
		return
	}
	failed := a.open(ctx)
	if failed == nil {
		failed = a.sendHeartbeats(ctx)
	}
	var wg sync.WaitGroup
	places := make(chan struct{}, atOnce)
	var mu sync.Mutex
	var failures atomic.Int64
	if a.sink == nil {
		todo = nil
	}
	for _, p := range todo {
		places <- struct{}{}
		if failures.Load() >= atOnce {
			break
		}
		wg.Go(func() {
			defer func() { <-places }()
			if err := a.record(ctx, p); err != nil {
				failures.Add(1)
				mu.Lock()
				failed = err
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case failed != nil && !a.away:
		a.Log.Warn("processes cannot be recorded now; they are kept and recorded later", "error", failed)
	case failed == nil && a.away:
		a.Log.Info("processes are recorded again")
	}
	a.away, a.retry = failed != nil, time.Now().Add(again)
}

// open opens the sink.
func (a *agent) open(ctx context.Context) (err error) {
	if a.sink == nil {
		ctx, cancel := context.WithTimeout(ctx, callTime)
		defer cancel()
		a.sink, err = a.Open(ctx)
	}
	return err
}

// sendHeartbeats passes the queue to the sink. The error means that the sink is away.
func (a *agent) sendHeartbeats(ctx context.Context) (failed error) {
	var later []measured // of processes that are not recorded yet
	defer func() {
		a.mu.Lock()
		if len(later) > 0 {
			a.queue = append(later, a.queue...)
		}
		a.mu.Unlock()
	}()
	for failed == nil {
		var batch []measured
		var beats []Heartbeat
		now, in := time.Now(), map[*process]bool{}
		a.mu.Lock()
		for len(a.queue) > 0 && len(batch) < maxBatch && !in[a.queue[0].p] {
			m := a.queue[0]
			a.queue = a.queue[1:]
			switch {
			case m.p.Done:
			case m.p.Member == "":
				later = append(later, m)
			default:
				in[m.p] = true
				batch, beats = append(batch, m), append(beats, Heartbeat{m.p.Member, m.load, now.Sub(m.at)})
			}
		}
		a.mu.Unlock()
		if len(batch) == 0 {
			return nil
		}
		call, cancel := context.WithTimeout(ctx, callTime)
		errs := a.sink.Heartbeats(call, beats)
		cancel()
		a.mu.Lock()
		unknown := func(err error) bool {
			return err != nil && !errors.Is(err, ErrForgotten) && !errors.Is(err, ErrRefused)
		}
		away := !slices.ContainsFunc(errs, func(err error) bool { return !unknown(err) }) // one that fails alone is not sent again
		for i, m := range batch {
			if away {
				failed, later = errs[i], append(later, m)
				continue
			}
			m.p.queued--
			if errors.Is(errs[i], ErrForgotten) {
				a.forget(m.p)
			}
		}
		a.mu.Unlock()
	}
	return failed
}

// forget makes a process be registered again.
func (a *agent) forget(p *process) {
	p.Key, p.Member, p.Recorded = rand.Text(), "", 0
	a.changed(p)
}

// record passes to the sink what is to be recorded of a process beside heartbeats. The
// error means that the sink is away.
func (a *agent) record(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	a.mu.Lock()
	r, member, claims, n := p.Registration, p.Member, p.Claims, p.Recorded
	ends, ended, reason := !p.Ended.IsZero() && p.queued == 0, p.Ended, p.Reason
	a.mu.Unlock()
	var err error
	if member == "" {
		var ids []objectid.ID
		for n = 0; n < len(claims) && claims[n].Layout == claims[0].Layout; n++ {
			ids = append(ids, claims[n].ID)
		}
		if member, err = a.sink.Register(ctx, r, ids, claims[0].Layout); member != "" && err != nil {
			a.Log.Warn("a process is recorded", "gpid", r.GPID, "error", err)
			err = nil
		}
	}
	for ; err == nil && n < len(claims); n++ {
		err = a.sink.AddSamples(ctx, member, []objectid.ID{claims[n].ID}, claims[n].Layout)
	}
	if err == nil && ends {
		err = a.sink.End(ctx, member, reason, time.Since(ended))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case errors.Is(err, ErrForgotten) && ends: // its end is recorded already, or nothing is
		a.finish(p, err)
	case errors.Is(err, ErrForgotten):
		a.forget(p)
	case errors.Is(err, ErrRefused):
		a.Log.Warn("a process is not recorded", "gpid", r.GPID, "error", err)
		a.finish(p, err)
	case err == nil && ends:
		a.finish(p, nil)
	case err == nil:
		p.Member, p.Recorded = member, n
		if n == len(p.Claims) {
			a.release(p, nil)
		}
		if n == len(p.Claims) && p.Ended.IsZero() {
			delete(a.todo, p)
		}
		a.save(p)
	default:
		if member != "" && p.Member == "" {
			p.Member, p.Recorded = member, n
			a.save(p)
		}
		return err
	}
	return nil
}

// finish forgets a process, of which nothing more is to be recorded.
func (a *agent) finish(p *process, err error) {
	p.Done = true
	a.unfollow(p)
	delete(a.todo, p)
	delete(a.processes, p)
	a.release(p, err)
	a.save(p)
}
