package lock_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
	"github.com/oidkit/oid/lock/internal/engine"
)

// backend keeps locks in memory, for tests whose time is that of a bubble. Its
// clock is ahead by skew.
type backend struct {
	lock.Locker
	skew time.Duration

	mu     sync.Mutex
	fence  uint64
	holder *held
	queue  []chan struct{}
	note   string
	life   time.Duration // of the note
	broken error         // of every read and write of the note
	slow   time.Duration // how long an answer to a read of the note is under way
}

// held is a lease in a backend.
type held struct {
	p     *backend
	fence uint64
}

// openBackend returns p as a Locker.
func openBackend(p *backend) *backend {
	p.Locker = calls.WithNotes(nil, p.readNote)
	return p
}

func (p *backend) readNote(ctx context.Context, _ string) (engine.Note, error) {
	select {
	case <-time.After(p.slow):
	case <-ctx.Done():
		return engine.Note{}, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return engine.Note{Text: p.note, Now: time.Now().Add(p.skew)}, p.broken
}

func (p *backend) Status(_ context.Context, name string) (lock.Status, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status(name), nil
}

func (p *backend) status(name string) lock.Status {
	s := lock.Status{Name: name, Held: p.holder != nil}
	if s.Held {
		s.Fence = p.holder.fence
	}
	return s
}

func (p *backend) TryAcquire(ctx context.Context, name string, _ *lock.AcquireOptions) (*lock.Lease, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.take(ctx, name)
}

func (p *backend) take(ctx context.Context, name string) (*lock.Lease, error) {
	if p.holder != nil {
		return nil, &lock.HeldError{Status: p.status(name)}
	}
	p.fence++
	p.holder = &held{p: p, fence: p.fence}
	return calls.NewLease(ctx, name, lock.Owner{}, nil, engine.Grant{
		Fence: p.fence, Deadline: time.Now().Add(ttl), TTL: ttl, Keeper: p.holder,
	}), nil
}

func (p *backend) Acquire(ctx context.Context, name string, _ *lock.AcquireOptions) (*lock.Lease, error) {
	for {
		p.mu.Lock()
		lease, err := p.take(ctx, name)
		turn := make(chan struct{})
		if err != nil {
			p.queue = append(p.queue, turn)
		}
		p.mu.Unlock()
		if err == nil {
			return lease, nil
		}
		select {
		case <-turn:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// clear frees the lock, loses the note as well if forget is set, and wakes all waiters.
func (p *backend) clear(forget bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free()
	if forget {
		p.note = ""
	}
}

func (p *backend) free() {
	p.holder = nil
	for _, turn := range p.queue {
		close(turn)
	}
	p.queue = nil
}

// with calls f if h still has the lock.
func (h *held) with(f func()) error {
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	if h.p.holder != h {
		return lock.ErrLost
	}
	f()
	return nil
}

func (h *held) Keep() (time.Time, error) {
	return time.Now().Add(ttl), h.with(func() {})
}

func (h *held) Free() error        { return h.with(h.p.free) }
func (h *held) SetGroup(int) error { return nil }

func (h *held) SetNote(text string, life time.Duration) error {
	err := error(nil)
	return errors.Join(h.with(func() {
		if err = h.p.broken; err == nil {
			h.p.note, h.p.life = text, life
		}
	}), err)
}
