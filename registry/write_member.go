package registry

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
)

// watchInterval is how often a member checks that an adopted process still runs.
const watchInterval = 500 * time.Millisecond

// minAttempt is how long an attempt to send a heartbeat may take, at least: the first
// one after a copy, or with a block that was lost, is a dozen calls of the store.
const minAttempt = 2 * time.Second

// Member is the part of a process in a registry. [Registry.Register] and
// [Registry.Adopt] return one; its goroutine sends heartbeats until [Member.End] or
// [Member.Detach]. Any number of goroutines may share a member.
type Member struct {
	offline bool

	life     context.Context // of the heartbeat
	stop     context.CancelFunc
	done     chan struct{} // closed when the heartbeat has ended
	reseeded chan struct{} // asks for a heartbeat at once

	working  sync.Mutex // guards recorder, sampler and ended
	recorder *recorder
	sampler  sampler
	ended    bool

	mu        sync.Mutex // guards what follows
	generator *objectid.Generator
	block     string // of the generator
	err       error
}

func (r *Registry) newMember(p Process, offline, self bool) *Member {
	life, stop := context.WithCancel(context.Background())
	return &Member{
		offline: offline, life: life, stop: stop, done: make(chan struct{}), reseeded: make(chan struct{}, 1),
		recorder: r.newRecorder(p), sampler: sampler{root: "/proc", kernel: p.Kernel, program: p.Program, self: self},
	}
}

// start registers the member and starts its heartbeat.
func (m *Member) start(ctx context.Context) (*Member, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	go m.run()
	return m, nil
}

// Generator returns the member's generator: once the member is recorded, no other member
// that has registered generates the same ids, while the store keeps its data. It is always
// the same one, unless the process was copied, see [ErrCopied]. For an adopted process it
// is nil.
//
// Reseed of this generator, by the program or because the clock has jumped, does not
// change its block, which only the store can give. It makes the member send a heartbeat
// at once, by which each of two copies finds the other and claims a block; from then on
// Generator returns another generator. Until that heartbeat was stored, both copies
// create the same ids, and a program that keeps the generator goes on to do so:
// programs that may be copied call Generator for each id.
func (m *Member) Generator() *objectid.Generator {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.generator
}

// setGenerator gives a member that registered a generator for its block.
func (m *Member) setGenerator() error {
	p := m.Process()
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.adopted() || p.Value == "" || p.Value == m.block {
		return nil
	}
	block, err := hex.DecodeString(p.Value)
	if err != nil {
		return fmt.Errorf("registry: register: %w", err)
	}
	g, err := objectid.NewGenerator(&objectid.Options{Block: (*[4]byte)(block), NewBlock: m.reseed, Now: m.recorder.registry.options.Now})
	if err != nil {
		return fmt.Errorf("registry: register: %w", err)
	}
	g.New() // from now on its ids do not go back, even if the clock is set back before the first one
	m.generator, m.block = g, p.Value
	return nil
}

// reseed is called when the generator's clock has jumped, or by its Reseed: the process
// may be a copy, which the next heartbeat finds out. There is no other block before.
func (m *Member) reseed() (block [4]byte, ok bool) {
	select {
	case m.reseeded <- struct{}{}:
	default:
	}
	return block, false
}

// GPID returns the identity of the process.
func (m *Member) GPID() gpid.GPID { return m.Process().GPID }

// Key returns the key of the registration, see [Process.Key].
func (m *Member) Key() MemberKey {
	p := m.Process()
	return p.Key()
}

// Process returns what the member has recorded, or is about to.
func (m *Member) Process() Process { return m.recorder.process() }

// Err returns the error of the last heartbeat, or nil. It is a [*CollisionError] if
// another live process has the same process value.
func (m *Member) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Done returns a channel that is closed when the heartbeat has ended: after End or
// Detach, or after the end of the adopted process was recorded.
func (m *Member) Done() <-chan struct{} { return m.done }

// End records the end of the process with its reason, and ends the heartbeat. The
// process must not use the member's generator afterwards: the ids would be traced
// as a conflict. On an error of the store the end is not recorded, and End may be
// called again; once it has succeeded, it returns [ErrEnded].
func (m *Member) End(ctx context.Context, reason string) error {
	return m.finish(ctx, &End{Reason: reason})
}

// Detach ends the heartbeat and records no end: the adopted process continues. On
// its own host it is still known to be alive. The errors are those of End.
func (m *Member) Detach(ctx context.Context) error { return m.finish(ctx, nil) }

func (m *Member) finish(ctx context.Context, end *End) error {
	m.stop() // also a call under way
	<-m.done
	m.working.Lock()
	defer m.working.Unlock()
	if m.ended {
		return ErrEnded
	}
	m.recorder.failing = failing{} // the attempt that the stop has cut off says nothing of this one
	_, err := m.heartbeat(ctx, end)
	if err != nil && !errors.Is(err, ErrCollision) {
		return fmt.Errorf("registry: end: %w", err)
	}
	m.ended = true
	return nil
}

// enter sends the first heartbeat, which registers the member.
func (m *Member) enter(ctx context.Context) error {
	m.working.Lock()
	defer m.working.Unlock()
	try := ctx
	if m.offline {
		var cancel context.CancelFunc
		try, cancel = context.WithTimeout(ctx, m.Process().Interval)
		defer cancel()
	}
	err := m.beat(try, nil)
	if !m.recorder.registered {
		canceled := errors.Is(ctx.Err(), context.Canceled)
		if !m.offline || canceled || endOf(err) != "" || m.Process().Block == "" {
			return err
		}
	}
	m.note(err)
	return m.setGenerator()
}

// run sends heartbeats until the member stops or the adopted process ends.
func (m *Member) run() {
	defer close(m.done)
	interval := m.Process().Interval
	late := jitter(interval)
	timer := time.NewTimer(untilHeartbeat(m.Process().Block, interval, late, time.Now()))
	var watching <-chan time.Time
	if !m.sampler.self {
		watching = time.Tick(watchInterval)
	}
	for {
		select {
		case <-m.life.Done():
			return
		case <-watching:
			if endOf(m.sampler.running()) == "" {
				continue
			}
		case <-m.reseeded:
		case <-timer.C:
			timer.Reset(untilHeartbeat(m.Process().Block, interval, late, time.Now()))
		}
		try, cancelTry := context.WithTimeout(m.life, max(interval, minAttempt))
		m.working.Lock()
		last, err := m.heartbeat(try, nil)
		m.ended = last && err == nil
		ended := m.ended
		m.working.Unlock()
		cancelTry()
		if ended {
			return
		}
		if m.life.Err() == nil {
			m.note(err)
		}
		if last {
			watching = nil // while the store is away, once an interval is often enough
		}
	}
}

// heartbeat is beat, followed by the last beat if the adopted process has ended.
func (m *Member) heartbeat(ctx context.Context, end *End) (last bool, err error) {
	err = m.beat(ctx, end)
	if reason := endOf(err); reason != "" {
		return true, m.beat(ctx, &End{Reason: reason})
	}
	return end != nil, err
}

// beat takes a sample and records a heartbeat, the last one if end is not nil.
// m.working must be held. Without a sample of another process there is no
// heartbeat, because nothing shows that the process is alive; this process sends
// one all the same.
func (m *Member) beat(ctx context.Context, end *End) error {
	load, sampleErr := m.sampler.take()
	measured := &load
	if sampleErr != nil && !m.sampler.self {
		if end == nil {
			return sampleErr
		}
		measured = nil
	}
	var ahead time.Duration
	if g := m.Generator(); g != nil {
		ahead = g.Lead()
	}
	err := m.recorder.heartbeat(ctx, measured, ahead, end)
	copied := errors.Is(err, errOverwritten)
	if copied {
		if err = m.recorder.registerAgain(ctx); err == nil {
			err = m.recorder.heartbeat(ctx, measured, ahead, end)
		}
	}
	if m.recorder.registered {
		err = errors.Join(err, m.setGenerator())
	}
	switch {
	case err != nil || end != nil:
		return err
	case copied:
		return fmt.Errorf("%w; this one has block %s now", ErrCopied, m.Process().Block)
	}
	return sampleErr
}

// note keeps err for Err, and logs it if it is new.
func (m *Member) note(err error) {
	m.mu.Lock()
	before := m.err
	m.err = err
	m.mu.Unlock()
	log := m.recorder.registry.options.Log
	switch {
	case err != nil && (before == nil || errors.Is(err, ErrCollision) != errors.Is(before, ErrCollision)):
		log.Warn("registry heartbeat", "gpid", m.GPID(), "error", err)
	case err == nil && before != nil:
		log.Info("registry heartbeat works again", "gpid", m.GPID())
	}
}
