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

// longestWait is how long a request waits for a slot or for memory, at most half of the
// limit for the response.
const longestWait = 5 * time.Second

func (d *Door) allowance(r *http.Request) *allowance {
	return &allowance{budget: &d.memory, of: connectionOf(r)}
}

// admit reads the body of a request and then takes what its handler needs: memory, and
// a slot until the response is sent. A client that sends slowly holds no slot. done
// gives back what was taken. The errors are those of readBody and ErrBusy.
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

// take waits a moment for a slot, and reports whether it got one.
func (d *Door) take(slots *semaphore.Weighted, r *http.Request) bool {
	if slots.TryAcquire(1) {
		return true
	}
	ctx, cancel := context.WithTimeout(r.Context(), d.patience())
	defer cancel()
	return slots.Acquire(ctx, 1) == nil
}

// readBody reads a body of up to limit bytes before the handler runs, so that a slow
// client or a wrong length gets the same answer from every endpoint, and returns its
// length. a pays for the memory. The errors are ErrLongBody, ErrSlowBody, ErrBadBody
// and ErrMemory.
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
		// Memory is taken for what has arrived, not for what was announced.
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
	// The server keeps reading to notice a disconnect, and would take the deadline
	// for one.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(&body)
	return int64(body.Len()), nil
}

// firstPiece is how much of a body is read first.
const firstPiece = 4 << 10

// budget bounds the memory that all requests together take. A part of it is for small
// requests only, so that they are answered beside large ones.
type budget struct {
	total    int64
	makeRoom func() // ends a request whose client keeps the server waiting
	taken    atomic.Int64
}

// small is the size up to which a request is a small one.
const small = 512 << 10

// bound returns how many bytes may be taken when a request of a size is among them.
func (b *budget) bound(size int64) int64 {
	if size <= small {
		return b.total
	}
	return b.total - b.total/4
}

// allowance is the memory of one request. Its methods must not be called at the same
// time.
type allowance struct {
	budget *budget
	of     *connection // or nil
	bytes  int64
}

// grow takes n bytes more. It waits a moment for them, and returns ErrMemory if there
// are none.
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

// release gives all back.
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
