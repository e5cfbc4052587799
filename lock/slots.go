package lock

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oidkit/oid/lock/internal/engine"
)

// MaxSlots is the largest number of slots. There are also 1024 worker numbers of Snowflake
// ids, so every slot number can serve as one.
const MaxSlots = 1024

// Slots returns a Locker whose locks have up to n holders at the same time. Each holder has a
// slot: a number from 0 to n-1, see [Lease.Slot]. n is 1 to [MaxSlots]; otherwise Acquire and
// TryAcquire return an error that wraps [ErrInvalid]. Close closes l.
//
// Each slot is a separate lock of l, with separate fencing tokens: slot 2 of the lock "job" is
// the lock "job#2". If waiters for a lock of l are served first come, first served, waiters for
// a slot are too. The first waiter holds the lock "job#queue". Use such names for nothing else.
// Names may have up to MaxName-6 bytes.
//
// All callers should use the same n; otherwise up to the largest n slots are held.
//
// Do not use a name with slots and without slots at the same time. If the lock "job" itself is
// held, a call that has got a slot releases the slot and returns an error that wraps a
// [HeldError]. The reverse is not checked: if you take "job" itself although others may hold
// slots, call [HeldSlots] afterwards, and begin only if no slot is held. [Once] refuses a
// Locker of Slots with ErrInvalid.
//
// While callers wait, the first waiter sends n times the requests of a waiter for one lock. In
// a database each request is a query. To save these queries there, make n so large that
// nobody waits, or call TryAcquire instead of Acquire.
func Slots(l Locker, n int) Locker { return &slots{Locker: l, n: n} }

// HeldSlots returns the status of every held slot of a lock, sorted by slot number, see
// [Slots]. With an error it returns the slots that it read before the error.
func HeldSlots(ctx context.Context, l Locker, name string) ([]Status, error) {
	n, err := recordedSlots(ctx, l, name)
	var held []Status
	for slot := 0; slot < n && err == nil; slot++ {
		var s Status
		if s, err = l.Status(ctx, slotName(name, slot)); s.Held {
			held = append(held, s)
		}
	}
	return held, err
}

// Slot returns the number of the slot, or -1 if the lock has no slots, see [Slots].
func (l *Lease) Slot() int {
	name, slot := splitSlot(l.name)
	if n, err := strconv.Atoi(slot); name != "" && err == nil && slotName(name, n) == l.name {
		return n
	}
	return -1
}

// turnTTL is the longest TTL of the lock NAME#queue. With it, waiters in a database look once
// a second.
const turnTTL = 6 * time.Second

// slots is the Locker of [Slots].
//
// With 1024 held slots, the first waiter sends Redis about 900 requests a second, and takes a
// slot 10 to 60 ms after it becomes free. In a database each request is a query. If the first
// waiter is stopped, or dies on another host, nobody takes a free slot for up to turnTTL.
type slots struct {
	Locker
	n int
}

// slotMark separates the name of a lock from the number of a slot or from queueWord.
const (
	slotMark  = "#"
	queueWord = "queue"
)

func slotName(name string, slot int) string { return name + slotMark + strconv.Itoa(slot) }
func queueName(name string) string          { return name + slotMark + queueWord }

// splitSlot splits a name made by [slotName] or [queueName] into its two parts.
func splitSlot(name string) (of, slot string) {
	i := max(0, strings.LastIndex(name, slotMark))
	return name[:i], strings.TrimPrefix(name[i:], slotMark)
}

// WithoutSlot returns the name of the lock if name is that of one of its slots or of their
// queue, see [Slots], and otherwise name.
func WithoutSlot(name string) string {
	of, slot := splitSlot(name)
	if _, err := strconv.ParseUint(slot, 10, 64); of != "" && (err == nil || slot == queueWord) {
		return of
	}
	return name
}

func (s *slots) check(name string) error {
	if s.n < 1 || s.n > MaxSlots {
		return fmt.Errorf("%w number of slots %d: want 1 to %d", ErrInvalid, s.n, MaxSlots)
	}
	return errors.Join(CheckName(name), CheckName(queueName(name)))
}

// Acquire takes a slot, waiting for it as long as ctx allows, see [Slots].
func (s *slots) Acquire(ctx context.Context, name string, o *AcquireOptions) (out *Lease, _ error) {
	if err := s.check(name); err != nil {
		return nil, err
	}
	inQueue := *cmp.Or(o, &AcquireOptions{})
	inQueue.Group = false
	if inQueue.TTL == 0 || inQueue.TTL > turnTTL {
		inQueue.TTL = turnTTL
	}
	var lease *Lease
	defer func() {
		if out == nil && lease != nil { // the function for events panics, because turn was released
			_ = lease.Release() // after an error it ends with its TTL
		}
	}()
	for lease == nil {
		err := Do(ctx, s.Locker, queueName(name), func(first context.Context, turn *Lease) error {
			n, err := recordedSlots(first, s.Locker, name)
			if err != nil {
				return err
			}
			s.record(turn, n)
			if lease, err = s.try(first, name, o); err != nil {
				lease, err = s.wait(first, name, o)
			}
			return err
		}, &inQueue)
		lost := errors.Is(err, ErrLost) || errors.Is(err, ErrExpired) // turn was lost
		if lease == nil && (!lost || ctx.Err() != nil) {
			if held := (*HeldError)(nil); errors.As(err, &held) && ctx.Err() != nil {
				err = fmt.Errorf("lock: acquire a slot of %q: %w: %w", name, ctx.Err(), &HeldError{held.Status, s.n})
			}
			return nil, err
		}
	}
	return s.exclude(ctx, name, lease)
}

// TryAcquire takes a slot if one is free, see [Slots].
func (s *slots) TryAcquire(ctx context.Context, name string, o *AcquireOptions) (*Lease, error) {
	if err := s.check(name); err != nil {
		return nil, err
	}
	n, err := recordedSlots(ctx, s.Locker, name)
	if err != nil {
		return nil, err
	}
	if n < s.n {
		// If somebody else holds the queue, it records its own number.
		if turn, err := s.Locker.TryAcquire(ctx, queueName(name), nil); err == nil {
			s.record(turn, n)
			_ = turn.Release() // after an error it ends with its TTL
		}
	}
	lease, err := s.try(ctx, name, o)
	if err != nil {
		return nil, err
	}
	return s.exclude(ctx, name, lease)
}

// note returns an error: [Once] keeps its record with one lock, not with many slots.
func (s *slots) note(context.Context, string) (engine.Note, error) {
	return engine.Note{}, fmt.Errorf("%w: Once needs a Locker without Slots", ErrInvalid)
}

// try takes a slot if one is free. It tries the slots in random order, so that callers do not
// all ask for the same one.
func (s *slots) try(ctx context.Context, name string, o *AcquireOptions) (*Lease, error) {
	var held *HeldError
	for _, slot := range rand.Perm(s.n) {
		lease, err := s.Locker.TryAcquire(ctx, slotName(name, slot), o)
		if !errors.As(err, &held) {
			return lease, err
		}
	}
	return nil, &HeldError{held.Status, s.n}
}

// wait waits for all slots at once and takes the first that becomes free. It releases any
// other slot that it gets meanwhile.
func (s *slots) wait(ctx context.Context, name string, o *AcquireOptions) (*Lease, error) {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	var (
		mu    sync.Mutex
		first *Lease
		why   error
		calls sync.WaitGroup
	)
	for slot := range s.n {
		calls.Go(func() {
			lease, err := s.Locker.Acquire(waiting, slotName(name, slot), o)
			mu.Lock()
			chosen := first == nil && why == nil
			if chosen {
				first, why = lease, err
				stop()
			}
			mu.Unlock()
			if !chosen && err == nil {
				_ = lease.Release() // after an error it ends with its TTL
			}
		})
	}
	calls.Wait()
	return first, why
}

// exclude releases the lease of a slot if the lock itself is held, without slots.
func (s *slots) exclude(ctx context.Context, name string, lease *Lease) (*Lease, error) {
	status, err := s.Locker.Status(ctx, name)
	for err != nil && !errors.Is(err, ErrClosed) && ctx.Err() == nil && lease.Check() == nil { // the error may be temporary
		time.Sleep(recordPause)
		status, err = s.Locker.Status(ctx, name)
	}
	if err == nil && status.Held {
		err = fmt.Errorf("lock: the lock is in use without slots: %w", &HeldError{Status: status})
	}
	if err != nil {
		return nil, errors.Join(err, lease.Release())
	}
	return lease, nil
}

// slotsNote is the note of the lock NAME#queue.
type slotsNote struct {
	// Slots is the largest n that was used with this name.
	Slots int `json:"slots"`
}

// slotsNoteLife is how long the backend keeps that note.
const slotsNoteLife = 366 * 24 * time.Hour

// recordedSlots returns the largest n that was used with a name, or 0.
func recordedSlots(ctx context.Context, l Locker, name string) (int, error) {
	note, err := l.note(ctx, queueName(name))
	var v slotsNote
	if err == nil && note.Text != "" {
		err = json.Unmarshal([]byte(note.Text), &v)
	}
	if err != nil {
		return 0, fmt.Errorf("lock: read how many slots %q has: %w", name, err)
	}
	return min(v.Slots, MaxSlots), nil
}

// record records n, unless a larger n is recorded. If that fails, the next call tries again.
func (s *slots) record(turn *Lease, recorded int) {
	if text, err := json.Marshal(slotsNote{s.n}); err == nil && s.n > recorded {
		_ = turn.grant.Keeper.SetNote(string(text), slotsNoteLife)
	}
}
