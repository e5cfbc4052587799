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

// MaxSlots is the largest number of slots, that of a Snowflake id's worker numbers.
const MaxSlots = 1024

// Slots returns a Locker whose locks have up to n holders at a time, on the locks of l. Each
// holder has a slot, a number from 0 to n-1 that [Lease.Slot] returns. n is from 1 to
// [MaxSlots]; otherwise Acquire and TryAcquire return an error that wraps [ErrInvalid]. Close
// closes l.
//
// Slot 2 of the lock called job is the lock job#2 of l, a name to use for nothing else. It
// has fencing tokens of its own.
// Waiters are served first come, first served if those of l are; the first holds the lock
// job#queue. Names are up to 6 bytes shorter than [MaxName].
//
// All callers should use the same n. Otherwise as many slots are held as the largest n says.
// If the lock itself is held, Acquire and TryAcquire return a HeldError at once. The reverse
// is not checked: after taking a lock without slots whose name is also used with slots, call
// [HeldSlots]. [Once] needs a lock without slots.
//
// The first waiter asks as often as one waiter for each slot would. Have as many slots as
// callers in a database, or call TryAcquire.
func Slots(l Locker, n int) Locker { return &slots{Locker: l, n: n} }

// HeldSlots returns the status of every slot of a lock that is held, by number, see [Slots].
// With an error it returns those that it has seen before.
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

// Slot returns the number of the slot that the lease holds, from 0, or -1 if its lock
// has no slots. See [Slots].
func (l *Lease) Slot() int {
	name, slot := splitSlot(l.name)
	if n, err := strconv.Atoi(slot); name != "" && err == nil && slotName(name, n) == l.name {
		return n
	}
	return -1
}

// turnTTL is the longest TTL of the first waiter's turn. Waiters in a database look once a
// second with it.
const turnTTL = 6 * time.Second

// slots is the Locker of [Slots].
//
// Where all 1024 slots are held, the first waiter sends Redis about 900 requests a second, and
// a slot that becomes free is taken after 10 to 60 ms. In a database each of these is a query.
// If the first waiter is stopped, or dies on another host, slots that become free stay so for
// up to turnTTL.
type slots struct {
	Locker
	n int
}

// slotMark separates the name of a lock from the number of a slot and from queueWord.
const (
	slotMark  = "#"
	queueWord = "queue"
)

func slotName(name string, slot int) string { return name + slotMark + strconv.Itoa(slot) }
func queueName(name string) string          { return name + slotMark + queueWord }

// splitSlot returns the two parts of a name of [slotName] or [queueName].
func splitSlot(name string) (of, slot string) {
	i := max(0, strings.LastIndex(name, slotMark))
	return name[:i], strings.TrimPrefix(name[i:], slotMark)
}

func (s *slots) check(name string) error {
	if s.n < 1 || s.n > MaxSlots {
		return fmt.Errorf("%w number of slots %d: want 1 to %d", ErrInvalid, s.n, MaxSlots)
	}
	return errors.Join(CheckName(name), CheckName(queueName(name)))
}

// Acquire takes a slot, waiting for it as long as ctx allows, see [Slots].
func (s *slots) Acquire(ctx context.Context, name string, o *AcquireOptions) (*Lease, error) {
	if err := s.check(name); err != nil {
		return nil, err
	}
	inQueue := *cmp.Or(o, &AcquireOptions{})
	inQueue.Group = false
	if inQueue.TTL == 0 || inQueue.TTL > turnTTL {
		inQueue.TTL = turnTTL
	}
	var lease *Lease
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
		lost := errors.Is(err, ErrLost) || errors.Is(err, ErrExpired) // the turn
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
		// If another has the queue, that records its own number.
		if turn, err := s.Locker.TryAcquire(ctx, queueName(name), nil); err == nil {
			s.record(turn, n)
			_ = turn.Release() // or it ends after its TTL
		}
	}
	lease, err := s.try(ctx, name, o)
	if err != nil {
		return nil, err
	}
	return s.exclude(ctx, name, lease)
}

// note returns an error: [Once] keeps its record beside one lock, not beside many.
func (s *slots) note(context.Context, string) (engine.Note, error) {
	return engine.Note{}, fmt.Errorf("%w: Once does not go with Slots", ErrInvalid)
}

// try takes a slot if one is free. It begins anywhere, because slots with low numbers
// would otherwise be tried by everyone.
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

// wait takes the slot that is free first. It waits for all of them, and gives back what
// it gets beside the first.
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
			defer mu.Unlock()
			switch {
			case first == nil && why == nil:
				first, why = lease, err
				stop()
			case err == nil:
				_ = lease.Release() // or it ends after its TTL
			}
		})
	}
	calls.Wait()
	return first, why
}

// exclude gives the lease of a slot back if the lock is held without slots.
func (s *slots) exclude(ctx context.Context, name string, lease *Lease) (*Lease, error) {
	status, err := s.Locker.Status(ctx, name)
	for err != nil && !errors.Is(err, ErrClosed) && ctx.Err() == nil && lease.Check() == nil { // it may pass
		time.Sleep(recordPause)
		status, err = s.Locker.Status(ctx, name)
	}
	if err == nil && status.Held {
		err = fmt.Errorf("lock: in use without slots: %w", &HeldError{Status: status})
	}
	if err != nil {
		return nil, errors.Join(err, lease.Release())
	}
	return lease, nil
}

// slotsNote is the note of the queue.
type slotsNote struct {
	// Slots is the largest number of slots that was used.
	Slots int `json:"slots"`
}

// slotsNoteLife is how long a place keeps the note of a queue.
const slotsNoteLife = 366 * 24 * time.Hour

// recordedSlots returns the largest number of slots of a lock that was used, or 0.
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

// record records the number of slots, unless a larger one was recorded. After an error
// the next call records it.
func (s *slots) record(turn *Lease, recorded int) {
	if text, err := json.Marshal(slotsNote{s.n}); err == nil && s.n > recorded {
		_ = turn.grant.Keeper.SetNote(string(text), slotsNoteLife)
	}
}
