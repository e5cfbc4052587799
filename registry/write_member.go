package registry

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/otelresource"
	"github.com/oidkit/oid/objectid"
)

// watchInterval is how often a member checks that an adopted process still runs.
const watchInterval = 500 * time.Millisecond

// minAttempt is the shortest timeout of an attempt to send a heartbeat. The first attempt
// after a copy, or after a block was lost, makes a dozen calls of the store.
const minAttempt = 2 * time.Second

// Member represents a process of this host in a registry. [Registry.Register] and
// [Registry.Adopt] return one. Its goroutine sends heartbeats until [Member.End] or
// [Member.Detach]. Any number of goroutines may share a member.
type Member struct {
	offline bool

	life     context.Context // of the heartbeat
	stop     context.CancelFunc
	done     chan struct{} // closed when the heartbeat has ended
	reseeded chan struct{} // asks for a heartbeat at once

	working  sync.Mutex // guards recorder, sampler, reader, unread and ended
	recorder *recorder
	sampler  sampler
	reader   otelresource.Reader
	unread   string // the latest error of reader
	ended    bool

	mu        sync.Mutex // guards what follows
	generator *objectid.Generator
	block     string // of the generator
	err       error
}

// newMember returns a member for p, which o describes.
func (r *Registry) newMember(p Process, o *RegisterOptions, self bool) *Member {
	life, stop := context.WithCancel(context.Background())
	reader := otelresource.Reader{Given: otelresource.Description{Name: o.Name, Version: o.Version, Labels: o.Labels}}
	if !self {
		reader.PID = p.Kernel.PID
	}
	return &Member{
		offline: o.Offline, reader: reader, life: life, stop: stop, done: make(chan struct{}), reseeded: make(chan struct{}, 1),
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

// Generator returns the generator of the member, or nil for an adopted process. No other
// registered member generates the same ids, as long as the store keeps its data. For a
// member that registered offline, this holds once it is recorded.
//
// If the process is copied, both copies create the same ids until a heartbeat detects the
// copy. Each copy then has another generator, see [ErrCopied]. So a program that may be copied
// must call Generator for each id.
//
// A call of the generator's Reseed, or a jump of the clock, does not change the block. It
// makes the member send a heartbeat at once, which detects a copy.
func (m *Member) Generator() *objectid.Generator {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.generator
}

// setGenerator creates a generator for the block of a registered member, unless it already
// has one.
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

// reseed is called by the generator's Reseed, and when its clock has jumped, because the
// process may be a copy. The next heartbeat finds out. Until then there is no other block.
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

// Process returns a copy of what the member has recorded or is about to record.
func (m *Member) Process() Process { return m.recorder.process() }

// Err returns the error of the last heartbeat, or nil. It is a [*CollisionError] if another
// live process has the same process value.
func (m *Member) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Done returns a channel that is closed when heartbeats have stopped: after End, after
// Detach, or when the end of the adopted process was recorded.
func (m *Member) Done() <-chan struct{} { return m.done }

// End records the end of the process with its reason, and stops the heartbeats. Call it
// before you close the store. Do not use the generator of the member afterwards: traces of
// ids that it generates then would be conflicts. If the store fails, End may be called again.
// After a successful End, further calls return [ErrEnded].
func (m *Member) End(ctx context.Context, reason string) error {
	return m.finish(ctx, &End{Reason: reason})
}

// Detach sends a last heartbeat and stops the heartbeats, but records no end. Call it when an
// adopted process continues after this program. Programs on the host of the process still see
// that the process is alive; on other hosts it becomes [Late] and is then presumed dead. If
// the store fails, Detach may be called again. After a successful Detach or End, further calls
// return [ErrEnded].
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
	switch {
	case err == nil || errors.Is(err, ErrCollision):
		m.ended = true
		return nil
	case end == nil:
		return err
	}
	return fmt.Errorf("%w; the end of the process is not recorded", err)
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
	if !m.recorder.recordStored {
		canceled := errors.Is(ctx.Err(), context.Canceled)
		if !m.offline || canceled || errors.Is(err, ErrFormat) || endOf(err) != "" || m.Process().Block == "" {
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

// heartbeat calls beat. If the adopted process has ended, it also records the end.
func (m *Member) heartbeat(ctx context.Context, end *End) (last bool, err error) {
	err = m.beat(ctx, end)
	if reason := endOf(err); reason != "" {
		return true, m.beat(ctx, &End{Reason: reason})
	}
	return end != nil, err
}

// beat takes a sample and records a heartbeat. If end is not nil, the heartbeat is the last
// one. m.working must be held. If the load of another process cannot be read, there is no
// heartbeat, because nothing shows that the process is alive. This process always sends
// one.
func (m *Member) beat(ctx context.Context, end *End) error {
	said, unread := m.reader.Read()
	load, sampleErr := m.sampler.take() // if it shows the right process, said comes from there
	measured := &load
	if said != nil && endOf(sampleErr) == "" {
		m.recorder.describe((*Description)(said))
	}
	if unread != nil && unread.Error() != m.unread {
		m.unread = unread.Error()
		m.recorder.registry.options.Log.Warn("not all that the process says of itself is recorded", "gpid", m.GPID(), "error", unread)
	}
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
		if err = m.recorder.registerAfterCopy(ctx); err == nil {
			err = m.recorder.heartbeat(ctx, measured, ahead, end)
		}
	}
	if m.recorder.recordStored {
		err = errors.Join(err, m.setGenerator())
	}
	switch {
	case err != nil || end != nil:
		return err
	case copied:
		return fmt.Errorf("%w; this process now has block %s", ErrCopied, m.Process().Block)
	}
	return sampleErr
}

// note keeps err for Err, and logs when heartbeats begin to fail or succeed again.
func (m *Member) note(err error) {
	m.mu.Lock()
	before := m.err
	m.err = err
	m.mu.Unlock()
	log := m.recorder.registry.options.Log
	switch {
	case err != nil && (before == nil || errors.Is(err, ErrCollision) != errors.Is(before, ErrCollision)):
		log.Warn("registry heartbeat failed", "gpid", m.GPID(), "error", err)
	case err == nil && before != nil:
		log.Info("registry heartbeat works again", "gpid", m.GPID())
	}
}
