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
	"github.com/oidkit/oid/store"
)

// Member is a process in a registry. It is made by [Join] and [Adopt] and has a
// goroutine of its own, the heartbeat, until [Member.Leave] or [Member.Detach]
// is called. Any number of goroutines may share a member.
type Member struct {
	store     store.Store
	options   Options
	view      *Registry
	sampler   sampler
	adopted   bool
	generator *objectid.Generator

	stopOnce sync.Once
	stop     chan struct{} // closed to end the heartbeat
	done     chan struct{} // closed by the heartbeat when it has ended

	// working is held by whoever talks to the store for the member.
	working    sync.Mutex
	registered bool // the registry knows of it
	claimed    bool // its block is its own
	clock      clock
	pending    []Beat // not yet stored
	trimmed    time.Time
	left       bool

	mu  sync.Mutex // guards what follows
	p   Process
	err error
}

// Generator returns the member's generator, always the same one: it makes ids
// that no other member ever makes. For an adopted process it is nil.
func (m *Member) Generator() *objectid.Generator { return m.generator }

// GPID returns the identity of the process.
func (m *Member) GPID() gpid.GPID { return m.p.GPID } // written before m is shared

// Process returns what the member has recorded, or is about to.
func (m *Member) Process() Process {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.p
}

// Err returns what is wrong now, or nil: the error of the last heartbeat, or, if
// another live process was found to hold the same value, a [*CollisionError].
func (m *Member) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Done returns a channel that is closed when the heartbeat has ended: after
// Leave or Detach, or because the adopted process has ended and this is stored.
func (m *Member) Done() <-chan struct{} { return m.done }

// Leave records a clean end with its reason, and ends the heartbeat. The process
// must make no more ids with the member's generator: they would be traced as a
// conflict. On an error of the store the end is not recorded, and Leave may be
// called again; once it has succeeded it returns [ErrLeft].
func (m *Member) Leave(ctx context.Context, reason string) error {
	return m.finish(ctx, &End{Reason: reason})
}

// Detach ends the heartbeat and records no end: the process, which was adopted,
// goes on. On its own host it is still seen to be alive. The errors are those of
// Leave.
func (m *Member) Detach(ctx context.Context) error { return m.finish(ctx, nil) }

func (m *Member) finish(ctx context.Context, end *End) error {
	m.stopOnce.Do(func() { close(m.stop) })
	<-m.done
	m.working.Lock()
	defer m.working.Unlock()
	if m.left {
		return ErrLeft
	}
	_, err := m.beatOrEnd(ctx, end)
	if err != nil && !errors.Is(err, ErrCollision) {
		return fmt.Errorf("registry: leave: %w", err)
	}
	m.left = true
	return nil
}

// enter makes the first heartbeat, which registers the member.
func (m *Member) enter(ctx context.Context) error {
	m.working.Lock()
	defer m.working.Unlock()
	try := ctx
	if m.options.Offline {
		var cancel context.CancelFunc
		try, cancel = context.WithTimeout(ctx, m.options.Interval)
		defer cancel()
	}
	err := m.beat(try, nil)
	if !m.registered {
		canceled := errors.Is(ctx.Err(), context.Canceled)
		if !m.options.Offline || canceled || errors.Is(err, errEnded) {
			return err
		}
		if m.Process().Block == "" {
			block, err := drawBlock(m.options.Random)
			if err != nil {
				return err
			}
			m.setBlock(hex.EncodeToString(block[:]))
		}
	}
	m.note(err)
	return nil
}

// setBlock gives the member a block, and a value if it has none.
func (m *Member) setBlock(block string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.p.Block = block
	m.p.Key = processKey(m.p.GPID, block)
	if m.p.Value == "" {
		m.p.Value = block
	}
}
