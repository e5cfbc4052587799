package door

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// longestWait is how long a request waits for a slot or for memory, see patience.
const longestWait = 5 * time.Second

func (d *Door) allowance(r *http.Request) *allowance {
	return &allowance{budget: &d.memory, of: connectionOf(r)}
}

// admit reads the body of a request and then takes the memory and the slot that its handler
// needs. done gives them back; the slot may be given back before, see Recorder. The errors
// are those of readBody, and ErrBusy.
func (d *Door) admit(w *Recorder, r *http.Request, p Policy) (done func(), err error) {
	a := d.allowance(r)
	size, err := d.readBody(w, r, cmp.Or(p.Body, d.options.Limits.Body), a)
	if err != nil {
		a.release()
		return nil, err
	}
	working := connectionOf(r).work()
	var taken []*semaphore.Weighted
	w.release = func() {
		for _, slots := range taken {
			slots.Release(1)
		}
	}
	done = func() {
		w.giveBack()
		a.release()
		working()
	}
	take := func(slots *semaphore.Weighted) error {
		if !d.take(slots, r) {
			return ErrBusy
		}
		taken = append(taken, slots)
		return nil
	}
	need, heavy := p.Cost(r, size)
	if heavy {
		err = take(d.heavy)
	}
	if err == nil {
		err = a.grow(r.Context(), max(need-a.bytes, 0), d.patience())
	}
	if err == nil {
		err = take(d.slots)
	}
	if err != nil {
		done()
		return nil, err
	}
	return done, nil
}

func (d *Door) patience() time.Duration { return min(longestWait, d.options.Limits.Response/2) }

// take waits for a slot for as long as patience says, and reports whether it got one.
func (d *Door) take(slots *semaphore.Weighted, r *http.Request) bool {
	if slots.TryAcquire(1) {
		return true
	}
	ctx, cancel := context.WithTimeout(r.Context(), d.patience())
	defer cancel()
	return slots.Acquire(ctx, 1) == nil
}

// readBody reads a body of up to limit bytes, and returns its length. It takes the memory
// for it with a. Since it does so before the handler runs, a slow client or a wrong length
// gets the same answer from every endpoint. The errors are ErrLongBody, ErrSlowBody,
// ErrBadBody and ErrMemory.
func (d *Door) readBody(w http.ResponseWriter, r *http.Request, limit int64, a *allowance) (int64, error) {
	if r.ContentLength == 0 {
		return 0, nil
	}
	if r.ContentLength > limit {
		return 0, ErrLongBody
	}
	in := http.MaxBytesReader(w, r.Body, limit)
	var body bytes.Buffer
	for piece := int64(firstPiece); ; piece *= 2 {
		// A client may announce more than it sends, so memory is taken for what arrives.
		if err := a.grow(r.Context(), piece, d.patience()); err != nil {
			return 0, err
		}
		_, err := io.CopyN(&body, in, piece)
		switch _, large := errors.AsType[*http.MaxBytesError](err); {
		case err == nil:
			continue
		case err == io.EOF:
		case large:
			return 0, ErrLongBody
		case errors.Is(err, os.ErrDeadlineExceeded):
			return 0, ErrSlowBody
		default:
			return 0, ErrBadBody
		}
		break
	}
	// The http.Server continues to read, to notice a disconnect. It would take a deadline
	// for one.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(&body)
	return int64(body.Len()), nil
}

// firstPiece is how many bytes of a body are read first.
const firstPiece = 4 << 10

// budget bounds the memory that all requests together take. A quarter of it is reserved for
// small requests, so that they are answered while large ones use the rest.
type budget struct {
	total    int64
	makeRoom func() // closes the connection of a client that keeps the server waiting
	taken    atomic.Int64
}

// small is the size up to which a request is small, in bytes of memory.
const small = 512 << 10

// bound returns how many bytes all requests together may take after one of the given size
// was added.
func (b *budget) bound(size int64) int64 {
	if size <= small {
		return b.total
	}
	return b.total - b.total/4
}

// allowance is the memory that one request has taken from the budget. It must not be used by
// several goroutines at once.
type allowance struct {
	budget *budget
	of     *connection // of the request, or nil
	bytes  int64
}

// grow takes n more bytes. It waits for them up to patience, and then returns ErrMemory.
func (a *allowance) grow(ctx context.Context, n int64, patience time.Duration) error {
	b, bound := a.budget, a.budget.bound(a.bytes+n)
	if n > bound {
		return ErrMemory
	}
	for end := time.After(patience); b.taken.Add(n) > bound; {
		b.taken.Add(-n)
		b.makeRoom()
		select {
		case <-time.After(stalled / 10):
		case <-end:
			return ErrMemory
		case <-ctx.Done():
			return ErrMemory
		}
	}
	a.bytes += n
	if a.of != nil {
		a.of.memory.Add(n)
	}
	return nil
}

// release gives all bytes back.
func (a *allowance) release() {
	if a.bytes == 0 {
		return
	}
	a.budget.taken.Add(-a.bytes)
	if a.of != nil {
		a.of.memory.Add(-a.bytes)
	}
	a.bytes = 0
}
