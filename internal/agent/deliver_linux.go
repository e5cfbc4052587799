package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/oidkit/oid/internal/backoff"
	"github.com/oidkit/oid/internal/otelresource"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

const (
	maxQueue = 100_000                // heartbeats that are kept while the sink does not answer, 8 MB
	maxBatch = 2000                   // heartbeats per call
	atOnce   = 64                     // calls about single processes that run at once
	callTime = 5 * time.Second        // timeout of a call
	lastTime = 3 * time.Second        // timeout of all calls when the agent ends
	again    = time.Second            // the pause after a call has failed
	scan     = 500 * time.Millisecond // the time between two checks for processes to measure
	settle   = 100 * time.Millisecond // how long to wait before an end is recorded: an exec by a thread looks like an end at first
)

// measured is a heartbeat that was measured and is to be sent.
type measured struct {
	p    *process
	at   time.Time
	load registry.Load
}

// measure measures the load of each process once an interval.
func (a *agent) measure(ctx context.Context) {
	for tick := time.Tick(scan); ctx.Err() == nil; {
		select {
		case <-ctx.Done():
		case now := <-tick:
			for _, p := range a.due(now) {
				began := sinceBoot()
				said, unread := a.ask(p)
				load, end := p.measure() // if it shows that p runs, said comes from p
				a.mu.Lock()
				now := sinceBoot()
				switch a.look(now); {
				case end != "":
					a.end(p, end)
				case p.Ended.IsZero() && now-began <= maxGap: // otherwise the load may be older than its time
					p.doubt = false
					a.hear(p, said, unread)
					a.keep(measured{p, time.Now(), load})
				}
				a.mu.Unlock()
			}
			a.wake()
		}
	}
}

// keep adds a heartbeat to the queue. If the queue is full, it drops the oldest one.
func (a *agent) keep(m measured) {
	a.queue = append(a.queue, m)
	if m.p.queued++; len(a.queue) > maxQueue {
		a.queue[0].p.queued--
		a.queue = a.queue[1:]
	}
}

// due returns the processes that are to be measured now. It also lets connections expire and
// mends the files.
func (a *agent) due(now time.Time) (due []*process) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.look(sinceBoot())
	for p := range a.processes {
		if p.Ended.IsZero() && !now.Before(p.due) {
			due, p.due = append(due, p), now.Add(p.Interval)
		}
	}
	for _, c := range a.conns {
		a.expire(c, now)
	}
	a.counts.processes.Set(float64(len(a.processes)))
	a.mendSocket()
	a.repair()
	return due
}

// deliver calls pass when wake was called, until ctx is done. Then it calls pass until
// everything is recorded, for lastTime at most; the file has what was not.
func (a *agent) deliver(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-a.poke:
			if time.Now().After(a.retry) {
				a.pass(ctx)
			}
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
	defer cancel()
	_ = backoff.Sleep(last, 5*settle) // programs that end together with the agent
	for more := true; more && last.Err() == nil; {
		a.pass(last)
		select {
		case <-a.poke: // something has changed, such as a process that is registered now and whose end is to be recorded
		default:
			more = false
		}
	}
}

// pass sends everything that is to be recorded to the sink.
func (a *agent) pass(ctx context.Context) {
	var err error
	if a.sink == nil {
		call, cancel := context.WithTimeout(ctx, callTime)
		a.sink, err = a.Open(call)
		cancel()
	}
	if err == nil {
		err = errors.Join(a.sendHeartbeats(ctx), a.recordAll(ctx))
	}
	if ctx.Err() != nil {
		return // the agent ends; the file has what was not recorded
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.report(theSink, err); err != nil {
		a.retry = time.Now().Add(again)
	}
}

// sendHeartbeats sends the queue to the sink. A call has at most one heartbeat of each
// process. An error means that the sink does not answer.
func (a *agent) sendHeartbeats(ctx context.Context) (failed error) {
	for failed == nil {
		var batch, rest []measured
		var beats []registry.RemoteHeartbeat
		in := map[*process]bool{}
		a.mu.Lock()
		for _, m := range a.queue {
			switch {
			case m.p.Done:
			case m.p.Member == "" || in[m.p] || len(batch) == maxBatch:
				rest = append(rest, m)
			default:
				in[m.p] = true
				batch, beats = append(batch, m), append(beats, registry.RemoteHeartbeat{Member: m.p.Member, Load: m.load, Clock: m.at, Age: time.Since(m.at), Description: m.p.news})
			}
		}
		a.queue = rest
		a.mu.Unlock()
		if len(batch) == 0 {
			break
		}
		call, cancel := context.WithTimeout(ctx, callTime)
		errs := a.sink.Heartbeats(call, beats)
		cancel()
		a.mu.Lock()
		rest = nil
		for i, m := range batch {
			switch err := sinkError(errs[i]); {
			case err == nil:
				if m.p.queued--; m.p.news != nil && m.p.news == beats[i].Description {
					m.p.update()
					a.save(m.p)
				}
			case errors.Is(err, ErrForgotten) || errors.Is(err, ErrRefused):
				m.p.queued--
				a.forget(m.p)
			default:
				failed, rest = err, append(rest, m)
			}
		}
		a.queue = append(rest, a.queue...)
		a.mu.Unlock()
	}
	return failed
}

// recordAll calls record for all processes of which something other than heartbeats is to be
// recorded. An error means that the sink does not answer.
func (a *agent) recordAll(ctx context.Context) error {
	a.mu.Lock()
	var todo []*process
	for p := range a.processes {
		if !p.recorded() || !p.Ended.IsZero() {
			todo = append(todo, p)
		}
	}
	a.mu.Unlock()
	for some := range slices.Chunk(todo, atOnce) {
		var calls errgroup.Group
		for _, p := range some {
			calls.Go(func() error {
				call, cancel := context.WithTimeout(ctx, callTime)
				defer cancel()
				return a.record(call, p)
			})
		}
		if err := calls.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// record makes the next call about a process, other than for heartbeats. An error means that
// the sink does not answer. The call depends on what is recorded already:
//
//	nothing                            Register, with the first id
//	some ids                           AddEvidence, with the next ids that have one layout
//	all ids, and the process has ended End, after its heartbeats were sent; no call if the time of the end is unknown
//	all ids, and the process runs      no call
func (a *agent) record(ctx context.Context, p *process) (err error) {
	a.mu.Lock()
	q, ends := *p, p.recorded() && !p.Ended.IsZero() && p.queued == 0
	a.mu.Unlock()
	switch rest := q.Claims[q.Recorded:]; {
	case ends && q.Reason == "": // it ended while no agent ran, so the time of its end is unknown
	case ends && time.Since(q.Ended).Abs() < settle:
		return nil
	case ends:
		if _, reason := q.measure(); q.Reason == registry.ProcessEnded && reason != "" {
			q.Reason = reason
		}
		err = a.sink.End(ctx, q.Member, q.Reason, max(0, time.Since(q.Ended))) // an earlier agent may have set Ended, before the clock was set back
	case len(rest) > 0 && q.Member != "":
		var ids []objectid.ID
		for i := 0; i < len(rest) && rest[i].Layout == rest[0].Layout; i++ {
			ids = append(ids, rest[i].ID)
		}
		q.Recorded += len(ids)
		err = a.sink.AddEvidence(ctx, q.Member, ids, rest[0].Layout)
	case len(rest) > 0: // with one id, so that a repeated call is the same, even if the process has sent more ids meanwhile
		ids := []objectid.ID{rest[0].ID}
		q.Recorded++
		q.Clock, q.Age = time.Now(), max(0, time.Since(q.Since))
		if q.Member, err = a.sink.Register(ctx, q.GPID, ids, rest[0].Layout, &q.RemoteOptions); q.Member != "" && err != nil {
			a.Log.Warn("a process is recorded, with a warning", "gpid", q.GPID, "error", err)
			err = nil
		}
	default: // it has ended, and its heartbeats are not all sent
		return nil
	}
	err = sinkError(err)
	a.mu.Lock()
	defer a.mu.Unlock()
	refused := errors.Is(err, ErrRefused)
	if refused {
		a.refused(q.Kernel.PID, q.user, sinkRefused, err)
	}
	switch {
	case refused && p.Member != "" && !ends: // the process is recorded, without these ids
		p.Claims = slices.Delete(p.Claims, p.Recorded, q.Recorded)
		a.release(p, err)
		a.changed(p)
	case refused, ends && (err == nil || errors.Is(err, ErrForgotten)): // its end may have been recorded just before an earlier agent was killed
		a.finish(p, err)
	case errors.Is(err, ErrForgotten):
		if !p.Ended.IsZero() {
			p.Claims = p.Claims[p.Recorded:] // the others are recorded; without them each attempt records one more
		}
		a.forget(p)
	case err != nil:
		return err
	default:
		p.Member, p.Recorded = q.Member, q.Recorded
		if p.recorded() {
			a.release(p, nil)
		}
		a.changed(p)
	}
	return nil
}

// forget makes deliver register a process again.
func (a *agent) forget(p *process) {
	p.Key, p.Since, p.Member, p.Recorded = rand.Text(), time.Now(), "", 0
	p.update()
	a.changed(p)
}

// ask returns what a process says of itself, see [otelresource.Reader.Read]. A process can make
// that slow, for example by thousands of mappings. So that others need not wait, processes of one
// user take half a second, and then a quarter of the time. Those that are left out are asked
// before a later heartbeat.
func (a *agent) ask(p *process) (said *otelresource.Description, err error) {
	began := time.Now()
	paid, _ := a.asked.Load(p.user)
	until, _ := paid.(time.Time)
	if until.Sub(began) > 2*time.Second {
		return nil, nil
	}
	said, err = p.reader.Read()
	if until.Before(began) {
		until = began
	}
	a.asked.Store(p.user, until.Add(4*time.Since(began)))
	return said, err
}

// hear notes what a process says of itself. The next heartbeat tells the sink; a registration
// that may be under way does not change.
func (a *agent) hear(p *process, said *otelresource.Description, unread error) {
	if unread != nil {
		a.refused(p.Kernel.PID, p.user, attributes, unread)
	}
	if said == nil {
		return
	}
	news := registry.Description{Name: cmp.Or(said.Name, p.Name), Version: cmp.Or(said.Version, p.Version), Labels: said.Labels}
	if news.Name != p.Name || news.Version != p.Version || !maps.Equal(news.Labels, p.Labels) {
		p.news = &news
	}
}

// update makes the news the description of p.
func (p *process) update() {
	if p.news != nil {
		p.Name, p.Version, p.Labels, p.news = p.news.Name, p.news.Version, p.news.Labels, nil
	}
}

// finish removes a process of which nothing more is to be recorded, and answers its waiting
// lines with err.
func (a *agent) finish(p *process, err error) {
	p.Done = true
	a.unfollow(p)
	delete(a.processes, p)
	if a.latest[p.GPID.PID()] == p {
		delete(a.latest, p.GPID.PID())
	}
	a.release(p, err)
	a.save(p)
}
