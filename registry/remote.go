package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// ErrOwnWord is wrapped by the errors of [Registry.Beat] and [Registry.End] for a
// process that speaks for itself, having joined with [Join] or [Adopt].
var ErrOwnWord = errors.New("registry: process speaks for itself")

// Enroll records a process on whose behalf somebody else talks to the registry: a
// program in another language, which tells of itself over a network. Its
// heartbeats are those that are passed on to [Registry.Beat], and nothing but they
// tell that it is alive.
//
// With the zero sample the process is given a block that no other member ever
// had, [Process.Block], to make its ids with; otherwise sample is an id that it
// made, as for [Adopt]. Of o, Name, Version, Labels, Interval, KeepSamples and
// Layout count. The errors are those of [Adopt], and with a [*CollisionError] the
// process is valid too.
func (r *Registry) Enroll(ctx context.Context, g gpid.GPID, sample objectid.ID, o *Options) (Process, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return Process{}, err
	}
	opts.Now = r.view.Now
	m := newMember(r.store, opts, g)
	m.speakFor(Process{
		GPID: g, Member: m.p.Member, Name: opts.Name, Version: opts.Version, Labels: opts.Labels,
		From: m.p.From, Interval: opts.Interval, Enrolled: true,
	})
	if !sample.IsZero() {
		born, now := g.Start(), wall(opts.Now)
		if sample.Time().After(now.Add(time.Minute)) || sample.Time().Before(born.Truncate(time.Second)) {
			return Process{}, fmt.Errorf("%w: %v is from %s, and the process began at %s", ErrSample,
				sample, sample.Time().Format(time.RFC3339), born.Format(time.RFC3339))
		}
		m.adopted = true
		m.p.Sample, m.p.From = sample, born.Truncate(time.Millisecond)
		if m.p.Value = valueOf(sample); opts.Layout == objectid.Java {
			m.p.Value = blockOf(sample)
		}
	}
	m.working.Lock()
	defer m.working.Unlock()
	err = m.beat(ctx, nil)
	return m.Process(), err
}

// Beat records a heartbeat of a process that was enrolled, with its load. It needs
// no memory of the process, so that whoever passes heartbeats on may start anew in
// between. The error wraps [store.ErrNotFound] for a process that is not recorded,
// [ErrLeft] for one that has ended, [ErrOwnWord] for one that was not enrolled, or
// it is a [*CollisionError]; then the heartbeat counts.
func (r *Registry) Beat(ctx context.Context, g gpid.GPID, load Load) (Process, error) {
	return r.told(ctx, g, load, nil)
}

// End records the end of a process that was enrolled. The errors are those of
// [Registry.Beat].
func (r *Registry) End(ctx context.Context, g gpid.GPID, reason string) (Process, error) {
	return r.told(ctx, g, noLoad, &End{Reason: reason})
}

func (r *Registry) told(ctx context.Context, g gpid.GPID, load Load, end *End) (Process, error) {
	var p *Process // the latest time that it was enrolled
	for q, err := range r.processes(ctx, runRange(g)) {
		if err != nil {
			return Process{}, err
		}
		if p == nil || q.Certain.After(p.Certain) {
			p = q
		}
	}
	switch {
	case p == nil:
		return Process{}, fmt.Errorf("registry: process %v: %w", g, store.ErrNotFound)
	case !p.Enrolled:
		return Process{}, fmt.Errorf("%w: %v", ErrOwnWord, g)
	case p.End != nil:
		return Process{}, fmt.Errorf("%w: %v", ErrLeft, g)
	}
	opts, err := (&Options{Interval: p.Interval, Now: r.view.Now}).withDefaults()
	if err != nil {
		return Process{}, err
	}
	m := newMember(r.store, opts, g)
	m.speakFor(*p)
	m.sampler.told = &load
	m.adopted, m.registered, m.claimed = !p.Sample.IsZero(), true, true
	m.clock.last = p.Last.Time
	m.trimmed = p.Last.Time.Truncate(trimInterval) // so that an hour's first heartbeat trims
	m.working.Lock()
	defer m.working.Unlock()
	err = m.beat(ctx, end)
	return m.Process(), err
}

// noLoad is the load of a process that nobody told about.
var noLoad = Load{CPU: Unknown, RSS: Unknown, Files: Unknown, Threads: Unknown, Goroutines: Unknown, Heap: Unknown}

// speakFor makes m, which is not shared yet, a member that somebody else tells of.
func (m *Member) speakFor(p Process) {
	m.p = p
	load := noLoad
	m.sampler = sampler{told: &load}
	close(m.done) // it has no heartbeat of its own
}
