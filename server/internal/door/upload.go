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

// Upload is an io.Reader of a request body, bounded in size and time. A goroutine reads
// ahead, so that the server notices when the client is gone while it works on what has
// arrived.
type Upload struct {
	// Two goroutines move the body, and count what has passed:
	//
	//	client --> receive --> blocks --> Read --> census
	//	           read                   taken    unpacked
	//
	// receive ends at the end of the body, which is then whole, or after fail, which ends the
	// upload early; the first error stays. Both close blocks, and Read returns what is in it
	// before the end. A slot of Door.heavy is held from the arrival of a block at Read until
	// Read waits for the next one.

	door    *Door
	from    netip.Addr // see clientOf; zero for one without a bound
	body    io.Reader
	control *http.ResponseController
	began   time.Time       // when it got its place
	ctx     context.Context // ends when the upload ends, or its client is gone
	cancel  context.CancelFunc
	memory  *allowance
	blocks  chan []byte // read ahead; closed at the end
	block   []byte      // the rest of the block that is read now

	mu       sync.Mutex // guards what follows: a goroutine of the census may outlive the request
	read     int64
	taken    int64 // of read, by the census
	unpacked int64 // from taken
	whole    bool  // the body was read to the end
	working  bool  // it has a slot of Door.heavy
	err      error // why it ended early, see fail
}

// What an upload takes of the memory.
const (
	readAhead    = 4 << 20
	blockSize    = 64 << 10
	UploadWindow = 8 << 20                    // of compressed data; zstd needs more only with --ultra or --long
	uploadMemory = 2*readAhead + UploadWindow // with the buffers of the census
	idMemory     = 20                         // an id, see census.Options.Keep; segments are not quite full
)

// NewUpload begins an upload, or returns ErrStopping, ErrBusy, ErrMemory or
// ErrTooLarge. done must be called after it.
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
	// Where deadlines are not supported, the program that embeds the handler has its
	// own.
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

// maxExpansion is how many times larger an upload may get when it is unpacked, beyond
// the first freeExpansion bytes. Dumps get 3 to 30 times larger.
const (
	maxExpansion  = 100
	freeExpansion = 64 << 20
)

// Unpack counts bytes that were unpacked, see source.Options.
func (u *Upload) Unpack(bytes int) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.unpacked += int64(bytes)
	if u.unpacked > u.door.options.Limits.Unpacked || u.unpacked > freeExpansion && u.unpacked > maxExpansion*u.taken {
		u.fail(ErrUnpacked)
	}
	return u.early()
}

// Keep takes memory for ids, see census.Options.
func (u *Upload) Keep(ids int) error {
	return u.memory.grow(u.ctx, int64(ids)*idMemory, u.door.patience())
}

// stop ends u with an error, and a Read that waits for the client, unless all of it has
// arrived.
func (u *Upload) stop(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.whole { // otherwise it would affect the next request on the connection
		u.fail(err)
		_ = u.control.SetReadDeadline(time.Now())
	}
}

// fail ends u with an error. The first one counts. The lock must be held.
func (u *Upload) fail(err error) {
	u.err = cmp.Or(u.err, err)
	u.cancel()
}

// Early returns why the upload ended early, or nil.
func (u *Upload) Early() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.early()
}

func (u *Upload) early() error {
	if u.err == nil && u.ctx.Err() != nil {
		return ErrBadBody // the client is gone
	}
	return u.err
}

// work takes a slot for the work on what was read, so that uploads do not keep all
// processors from others.
func (u *Upload) work() {
	if u.door.heavy.Acquire(u.ctx, 1) != nil {
		return
	}
	u.mu.Lock()
	u.working = true
	u.mu.Unlock()
	if u.ctx.Err() != nil { // perhaps rest was called before
		u.rest()
	}
}

// rest gives the slot back while u waits for its client.
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

// receive reads the body into blocks, until it ends or u does.
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

// next reads the next piece of the body. The error is io.EOF at its end, or the one
// that Early returns from then on.
func (u *Upload) next(p []byte) (int, error) {
	limits := u.door.options.Limits
	u.mu.Lock()
	// A client at the slowest allowed rate has sent u.read bytes by now.
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
		// From now on the server reads ahead, and a deadline would look like a
		// disconnect.
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

// Context returns the context of the work on u: it ends when u ends, or its client is
// gone.
func (u *Upload) Context() context.Context { return u.ctx }

// uploads are the running ones. They bound how many there are, in all and from one
// client, and let slow ones give way to those that wait.
type uploads struct {
	most int

	mu      sync.Mutex
	running map[*Upload]struct{}
	freed   chan struct{} // closed when a place is free; nil if nobody waits
}

func newUploads(most int) *uploads { return &uploads{most: most, running: map[*Upload]struct{}{}} }

// Uploads that others wait for.
const (
	fewUploads    = 2               // that one client may send where there are not more than twice as many places
	goodRate      = 1 << 20         // bytes per second; a slower one gives way
	goodRateAfter = 5 * time.Second // when its rate is known: the Retry-After of those that are refused
)

// perAddress returns how many places one client may take: half of them.
func (l *uploads) perAddress() int { return max(fewUploads, l.most/2) }

// from returns how many places a client has. The lock must be held.
func (l *uploads) from(a netip.Addr) (n int) {
	for u := range l.running {
		if u.from == a {
			n++
		}
	}
	return n
}

// take takes a place for u, and reports whether it got one. If there is none, another
// upload may end for it, and take waits up to patience.
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
		waits := l.endSlowest(u.from, own)
		l.mu.Unlock()
		if !waits {
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

// endSlowest ends the slowest upload that gives way to one from an address: one of the
// same address if own is set. It reports whether there was one. The lock must be held.
func (l *uploads) endSlowest(from netip.Addr, own bool) bool {
	var slowest *Upload
	var least float64
	for u := range l.running {
		rate, known := u.rate()
		several := u.from != from && u.from.IsValid() && l.from(u.from) > 1 // its client goes on with another
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

// rate returns in bytes per second how u arrives, if it has lasted long enough to tell
// and is not complete.
func (u *Upload) rate() (rate float64, known bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	age := time.Since(u.began)
	return float64(u.read) / age.Seconds(), !u.whole && age > goodRateAfter
}

// give gives the place of u back.
func (l *uploads) give(u *Upload) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, u)
	if l.freed != nil {
		close(l.freed)
		l.freed = nil
	}
}
