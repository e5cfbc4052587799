package door

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"time"
)

// Upload is an io.Reader of a request body, bounded in size and time. It reads ahead in
// another goroutine, so that the server notices a disconnect while it works on what has
// arrived.
type Upload struct {
	// The body passes through two goroutines. Each field counts the bytes at its point:
	//
	//	client --> receive --> blocks --> Read --> census
	//	           read                   taken    unpacked
	//
	// receive stops at the end of the body, when it sets whole, or after fail, which aborts
	// the upload. Then it closes blocks, and Read returns the rest of them before the end or
	// the error. The upload has a heavy slot while it works: from the time when Read gets a
	// block until Read waits for the next one.

	door    *Door
	from    netip.Addr // see clientOf
	body    io.Reader
	control *http.ResponseController
	began   time.Time       // when it was admitted
	ctx     context.Context // is done when the upload ends or its client disconnects
	cancel  context.CancelFunc
	memory  *allowance
	blocks  chan []byte // what was read ahead; closed at the end
	block   []byte      // the rest of the block from which Read reads

	mu       sync.Mutex // guards what follows, because a goroutine of the census may outlive the request
	read     int64      // bytes that were received
	taken    int64      // bytes that Read has returned
	unpacked int64      // bytes that the census has unpacked from them
	whole    bool       // the body was read to its end
	working  bool       // the upload has a heavy slot
	err      error      // why the upload was aborted, see fail
}

// The memory that an upload takes in bytes.
const (
	readAhead    = 4 << 20
	blockSize    = 64 << 10
	UploadWindow = 8 << 20                    // for the window of a decompressor; zstd needs more only with --ultra or --long
	uploadMemory = 2*readAhead + UploadWindow // including the buffers of the census
	idMemory     = 20                         // per id, see census.Options.Keep; more than 16 because segments are not full
)

// NewUpload begins an upload. done must be called when the work on it has ended. The error
// is ErrStopping, ErrBusy, ErrMemory or ErrTooLarge.
func (d *Door) NewUpload(w http.ResponseWriter, r *http.Request) (u *Upload, done func(), err error) {
	if d.cut.Err() != nil {
		return nil, nil, ErrStopping
	}
	if r.ContentLength > d.options.Limits.Upload {
		return nil, nil, ErrTooLarge
	}
	u = &Upload{
		door: d, from: clientOf(r), body: r.Body, control: http.NewResponseController(w), memory: d.allowance(r),
		blocks: make(chan []byte, readAhead/blockSize),
	}
	u.ctx, u.cancel = context.WithCancel(r.Context())
	if !d.uploads.take(u.ctx, u, d.patience()) {
		u.cancel()
		return nil, nil, ErrBusy
	}
	if err := u.memory.grow(u.ctx, uploadMemory, d.patience()); err != nil {
		u.cancel()
		d.uploads.give(u)
		return nil, nil, err
	}
	// If w does not support deadlines, the program that embeds the handler sets its own.
	_ = u.control.SetWriteDeadline(u.began.Add(d.options.Limits.UploadTime + d.options.Limits.Response))
	stop := context.AfterFunc(d.cut, func() { u.stop(ErrStopping) })
	go u.receive()
	return u, func() {
		stop()
		u.stop(ErrBadBody) // nobody reads the rest
		u.cancel()
		u.rest()
		u.memory.release()
		d.uploads.give(u)
	}, nil
}

// An upload may unpack to at most maxExpansion times its size, or to freeExpansion bytes if
// that is more. Dumps unpack to 3 to 30 times their size.
const (
	maxExpansion  = 100
	freeExpansion = 64 << 20
)

// Unpack counts bytes that were unpacked. It returns an error if there are too many, see
// census.Options.Unpacked.
func (u *Upload) Unpack(bytes int) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.unpacked += int64(bytes)
	if u.unpacked > u.door.options.Limits.Unpacked || u.unpacked > freeExpansion && u.unpacked > maxExpansion*u.taken {
		u.fail(ErrUnpacked)
	}
	return u.early()
}

// Keep takes memory for ids, see census.Options.Keep.
func (u *Upload) Keep(ids int) error {
	return u.memory.grow(u.ctx, int64(ids)*idMemory, u.door.patience())
}

// stop aborts u with an error, also while u waits for the client. If the whole body has
// arrived, it does nothing.
func (u *Upload) stop(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.whole { // otherwise the deadline would affect the next request of the connection
		u.fail(err)
		_ = u.control.SetReadDeadline(time.Now())
	}
}

// fail aborts u with an error. Only the first error is stored. The caller holds u.mu.
func (u *Upload) fail(err error) {
	u.err = cmp.Or(u.err, err)
	u.cancel()
}

// Early returns the error with which the upload was aborted, or nil.
func (u *Upload) Early() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.early()
}

func (u *Upload) early() error {
	if u.err == nil && u.ctx.Err() != nil {
		return ErrBadBody // the client has disconnected
	}
	return u.err
}

// work takes a heavy slot, so that uploads do not occupy all processors.
func (u *Upload) work() {
	if u.door.heavy.Acquire(u.ctx, 1) != nil {
		return
	}
	u.mu.Lock()
	u.working = true
	u.mu.Unlock()
	if u.ctx.Err() != nil { // the last call of rest may have been before
		u.rest()
	}
}

// rest gives the heavy slot back, because u waits for its client or has ended.
func (u *Upload) rest() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.working {
		u.working = false
		u.door.heavy.Release(1)
	}
}

// Read implements io.Reader.
func (u *Upload) Read(p []byte) (int, error) {
	if len(u.block) == 0 {
		u.rest()
		block, ok := <-u.blocks
		if !ok {
			return 0, cmp.Or(u.Early(), io.EOF)
		}
		u.block = block
		u.work()
	}
	n := copy(p, u.block)
	u.block = u.block[n:]
	u.mu.Lock()
	defer u.mu.Unlock()
	u.taken += int64(n)
	return n, nil
}

// receive reads the body into blocks, until the body ends or u is aborted.
func (u *Upload) receive() {
	defer close(u.blocks)
	for {
		block := make([]byte, blockSize)
		n, err := u.next(block)
		if n > 0 {
			select {
			case u.blocks <- block[:n]:
			case <-u.ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// next reads the next piece of the body. The error is io.EOF at the end of the body, or the
// error of Early.
func (u *Upload) next(p []byte) (int, error) {
	limits := u.door.options.Limits
	u.mu.Lock()
	// due is when a client at the slowest allowed rate has sent more than u.read bytes.
	due := min(limits.Request+time.Duration(u.read/slowestWriter)*time.Second, limits.UploadTime)
	if u.ctx.Err() == nil {
		_ = u.control.SetReadDeadline(u.began.Add(due))
	}
	u.mu.Unlock()
	n, err := u.body.Read(p)
	u.door.options.Uploaded(n)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.read += int64(n)
	if err == io.EOF {
		u.whole = true
		// The http.Server reads from now on, to notice a disconnect. It would take a deadline
		// for one.
		_ = u.control.SetReadDeadline(time.Time{})
	}
	switch {
	case u.read > limits.Upload:
		u.fail(ErrTooLarge)
	case errors.Is(err, os.ErrDeadlineExceeded), time.Since(u.began) > limits.UploadTime:
		u.fail(ErrTooSlow)
	case err != nil && err != io.EOF:
		u.fail(ErrBadBody)
	}
	return n, cmp.Or(u.early(), err)
}

// Context returns the context for the work on u. It is done when u ends or its client
// disconnects.
func (u *Upload) Context() context.Context { return u.ctx }

// uploads bounds how many uploads run, in total and per client. When others wait, it aborts
// slow uploads.
type uploads struct {
	most int

	mu      sync.Mutex
	running map[*Upload]struct{}
	freed   chan struct{} // closed when an upload ends; nil if nobody waits
}

func newUploads(most int) *uploads { return &uploads{most: most, running: map[*Upload]struct{}{}} }

const (
	fewUploads    = 2               // one client may always send this number of uploads
	goodRate      = 1 << 20         // bytes per second; a slower upload is aborted when others wait
	goodRateAfter = 5 * time.Second // the age from which an upload's rate is judged; refused clients return after this time, see Retry-After
)

// perAddress returns how many uploads one client may send at once: half of all.
func (l *uploads) perAddress() int { return max(fewUploads, l.most/2) }

// from returns how many uploads a client sends. The caller holds l.mu.
func (l *uploads) from(a netip.Addr) (n int) {
	for u := range l.running {
		if u.from == a {
			n++
		}
	}
	return n
}

// take reports whether u may run. If too many uploads run, it aborts a slow one if there is
// one, and waits up to patience for it to end.
func (l *uploads) take(ctx context.Context, u *Upload, patience time.Duration) bool {
	for end := time.After(patience); ; {
		l.mu.Lock()
		own := u.from.IsValid() && l.from(u.from) >= l.perAddress()
		if len(l.running) < l.most && !own {
			u.began = time.Now()
			l.running[u] = struct{}{}
			l.mu.Unlock()
			return true
		}
		if l.freed == nil {
			l.freed = make(chan struct{})
		}
		freed := l.freed
		ended := l.endSlowest(u.from, own)
		l.mu.Unlock()
		if !ended {
			return false
		}
		select {
		case <-freed:
		case <-end:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// endSlowest aborts the slowest upload that may be aborted for one from an address, and
// reports whether there is one. If own is set, only uploads from the same address may be
// aborted. The caller holds l.mu.
func (l *uploads) endSlowest(from netip.Addr, own bool) bool {
	var slowest *Upload
	var least float64
	for u := range l.running {
		rate, known := u.rate()
		several := u.from != from && u.from.IsValid() && l.from(u.from) > 1 // its client sends others, so its rate does not matter
		switch {
		case own && u.from != from, !known, rate >= goodRate && !several, slowest != nil && rate >= least:
		default:
			slowest, least = u, rate
		}
	}
	if slowest == nil {
		return false
	}
	slowest.stop(ErrSlowest)
	return true
}

// rate returns the rate at which u arrives, in bytes per second. The rate is known if u has
// run long enough and has not arrived completely.
func (u *Upload) rate() (rate float64, known bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	age := time.Since(u.began)
	return float64(u.read) / age.Seconds(), !u.whole && age > goodRateAfter
}

// give removes u, so that another upload may run.
func (l *uploads) give(u *Upload) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, u)
	if l.freed != nil {
		close(l.freed)
		l.freed = nil
	}
}
