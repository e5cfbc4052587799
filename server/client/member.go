package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oidkit/oid/internal/backoff"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// MemberOptions tune a [Member]. The zero value and a nil pointer are ready to use.
type MemberOptions struct {
	// Load returns what heartbeats report. It is called by one goroutine. Default: the
	// size of the heap, the number of goroutines and, where there is a /proc, processor
	// time, memory, open files and threads of this process.
	Load func() wire.Load
	// Warn receives the first error of an outage, in which heartbeats and registrations
	// are tried again after pauses that grow to eight intervals or a minute, and at its end
	// an error that wraps [ErrBack]. It is called by one goroutine. Default: they are dropped.
	Warn func(error)
}

// ErrBack is wrapped by what [MemberOptions].Warn receives when the server answers again.
var ErrBack = errors.New("client: the server answers again")

// Member is the registration of this process with a server. It creates ids with a
// process block of its own, without a request for each, and sends heartbeats until
// [Member.End]. Any number of goroutines may share it.
type Member struct {
	client  *Client
	options MemberOptions
	as      wire.Registration
	ids     *objectid.Generator
	again   chan struct{} // asks for another registration
	stop    context.CancelFunc
	stopped chan struct{}

	mu    sync.Mutex
	me    wire.Registered
	spare *[4]byte // a block that the generator has not taken yet
}

const (
	// Bounds of the interval between two heartbeats, which are those of the API.
	shortestInterval = time.Second
	longestInterval  = time.Hour

	// longestSilence is the number of intervals between two attempts in an outage, at
	// most. A process counts as dead after three.
	longestSilence = 8
)

// NewMember registers this process and starts its heartbeats. A zero r.PID means that of
// this process, and an empty r.Host the name of this host. If the server has forgotten
// the registration, the member registers again and continues with another block. The
// errors are those of [Client.Register], and an error if r has samples: the ids of an
// adopted process come from elsewhere.
func (c *Client) NewMember(ctx context.Context, r wire.Registration, o *MemberOptions) (*Member, error) {
	if !r.EvidenceID.IsZero() || len(r.EvidenceIDs) > 0 {
		return nil, errors.New("client: a member creates its ids with a process block; to adopt a process by a sample use Register")
	}
	m := &Member{client: c, options: *cmp.Or(o, &MemberOptions{}), as: r, again: make(chan struct{}, 1), stopped: make(chan struct{})}
	if m.options.Load == nil {
		m.options.Load = ownLoad
	}
	if m.options.Warn == nil {
		m.options.Warn = func(error) {}
	}
	host, _ := os.Hostname() // it may have none
	m.as.PID, m.as.Host = cmp.Or(m.as.PID, uint32(os.Getpid())), cmp.Or(m.as.Host, host)
	block, err := m.register(ctx)
	if err != nil {
		return nil, err
	}
	if m.ids, err = objectid.NewGenerator(&objectid.Options{Block: &block, NewBlock: m.newBlock}); err != nil {
		return nil, err
	}
	life, stop := context.WithCancel(context.Background())
	m.stop = stop
	go m.keep(life)
	return m, nil
}

// New returns a new id.
func (m *Member) New() objectid.ID { return m.ids.New() }

// Generator returns the generator of the member's ids. It stays the same after another
// registration.
func (m *Member) Generator() *objectid.Generator { return m.ids }

// GPID returns the identity of the process, another one after another registration.
func (m *Member) GPID() string { return m.registered().GPID }

// Key returns the member key, another one after another registration.
func (m *Member) Key() string { return m.registered().Member }

// End stops the heartbeats and records the end of the process, within five seconds.
func (m *Member) End(reason string) error {
	m.stop()
	<-m.stopped
	ctx, cancel := context.WithTimeout(context.Background(), lastCall)
	defer cancel()
	return m.client.End(ctx, m.Key(), reason, 0)
}

func (m *Member) registered() wire.Registered {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.me
}

// register registers the process and returns its block. After an error the next call has
// the same idempotency key, as the process may have been registered, unless that is the
// reason of the error.
func (m *Member) register(ctx context.Context) (block [4]byte, err error) {
	m.as.Key = cmp.Or(m.as.Key, rand.Text())
	me, err := m.client.Register(ctx, m.as)
	if problem, ok := errors.AsType[*Error](err); err == nil || ok && problem.Status == http.StatusConflict {
		m.as.Key = ""
	}
	if err != nil {
		return block, err
	}
	interval := time.Duration(me.IntervalSeconds * float64(time.Second))
	b, err := hex.DecodeString(me.ProcessBlock)
	if err != nil || len(b) != len(block) || interval < shortestInterval || interval > longestInterval {
		return block, fmt.Errorf("%w: process block %q with an interval of %v s", ErrResponse, me.ProcessBlock, me.IntervalSeconds)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.me = me
	return [4]byte(b), nil
}

// newBlock gives the generator a spare block. Without one it asks for another
// registration: the generator asks when this machine may be a copy of another.
func (m *Member) newBlock() (block [4]byte, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.spare != nil {
		block, m.spare = *m.spare, nil
		return block, true
	}
	select {
	case m.again <- struct{}{}:
	default:
	}
	return block, false
}

// keep sends heartbeats until ctx ends, the first at once, and registers the process again
// when the generator or the server asks for that. After calls that failed it waits longer
// each time.
func (m *Member) keep(ctx context.Context) {
	defer close(m.stopped)
	var (
		wait     time.Duration
		register bool
		pause    backoff.Backoff
		failing  time.Time // since when calls fail, or zero
	)
	for again := m.again; ; {
		select {
		case <-ctx.Done():
			return
		case <-again:
			register = true
		case <-time.After(wait):
		}
		var err error
		interval := time.Duration(m.registered().IntervalSeconds * float64(time.Second))
		register, err = m.call(ctx, register, min(max(interval, shortestCall), longestCall))
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if failing.IsZero() {
				failing = time.Now()
				m.options.Warn(err) // the block stays its own, so it continues
			}
			again, wait = nil, pauseAfter(&pause, err, min(longestSilence*interval, longestPause)) // nil: nothing shortens the pause
		default:
			if !failing.IsZero() {
				m.options.Warn(fmt.Errorf("%w after %v", ErrBack, time.Since(failing).Round(time.Second)))
			}
			again, wait, failing = m.again, interval, time.Time{}
			pause.Reset()
		}
	}
}

// call sends a heartbeat, or with register, or if the server does not know the member any
// more, a registration. It reports whether a registration is still to be sent.
func (m *Member) call(ctx context.Context, register bool, limit time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if !register {
		_, err := m.client.Heartbeat(ctx, m.Key(), m.options.Load())
		if problem, ok := errors.AsType[*Error](err); !ok || problem.Status != http.StatusNotFound && problem.Status != http.StatusConflict {
			return false, err
		}
	}
	block, err := m.register(ctx)
	if err != nil {
		return true, err
	}
	m.mu.Lock()
	m.spare = &block
	m.mu.Unlock()
	m.ids.Reseed() // which takes it
	return false, nil
}

// IDs creates ids with the process block of a [Member], which it registers when the first
// id is needed, so that a program can start before its server. All further ids are created
// in this process: no request, and no outage of the server of any length, delays them. An
// id has the time at which New returned it, by the clock of this host, and is traced to
// this process. Set the fields before the first call; any number of goroutines may then
// share it.
type IDs struct {
	Client *Client
	// Registration describes this process. Default of its Name: that of the program.
	Registration wire.Registration
	// Options are those of the member. Nil means the defaults.
	Options *MemberOptions

	mu     sync.Mutex
	latest *attempt // nil before the first, and when it is time for another
	pause  backoff.Backoff
}

// attempt is one attempt to register. The fields are set before done is closed.
type attempt struct {
	done   chan struct{}
	member *Member
	err    error
}

// New returns a new id, greater than those that it returned before unless the member had
// to register again. Its errors are those of [IDs.Member].
func (s *IDs) New(ctx context.Context) (objectid.ID, error) {
	m, err := s.Member(ctx)
	if err != nil {
		return objectid.ID{}, err
	}
	return m.New(), nil
}

// Member returns the member that creates the ids, to read its GPID or to end it. Before
// the first id it registers the member, within ten seconds. After an error, which is that
// of [Client.NewMember], or of ctx, it tries again with a later call: after a pause that
// grows from a second to a minute, and in which each call returns the same error at once.
func (s *IDs) Member(ctx context.Context) (*Member, error) {
	s.mu.Lock()
	a := s.latest
	if a == nil {
		a = &attempt{done: make(chan struct{})}
		s.latest = a
		go s.register(a)
	}
	s.mu.Unlock()
	select {
	case <-a.done:
		return a.member, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// register makes an attempt, which all callers of that time share.
func (s *IDs) register(a *attempt) {
	defer close(a.done)
	s.Registration.Name = cmp.Or(s.Registration.Name, filepath.Base(os.Args[0]))
	s.Registration.Key = cmp.Or(s.Registration.Key, rand.Text()) // one for all attempts: an answer may have been lost
	ctx, cancel := context.WithTimeout(context.Background(), longestCall)
	defer cancel()
	if a.member, a.err = s.Client.NewMember(ctx, s.Registration, s.Options); a.err != nil {
		time.AfterFunc(pauseAfter(&s.pause, a.err, longestPause), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.latest = nil
		})
	}
}

// The numbers of /proc/self/stat that a heartbeat reports, counted from the one after
// the name of the program; see proc_pid_stat(5).
const (
	statUser    = 11 // processor time, in ticks
	statSystem  = 12 // of the kernel, likewise
	statThreads = 17
	statPages   = 21 // resident
	statNumbers = 22

	ticks = 100 // in a second, on every architecture that Go runs on
)

// ownLoad returns what Go, and /proc where there is one, show of this process.
func ownLoad() wire.Load {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/sched/goroutines:goroutines"}}
	metrics.Read(s)
	load := wire.Load{HeapBytes: new(int64(s[0].Value.Uint64())), Goroutines: new(int64(s[1].Value.Uint64()))}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		load.Files = new(int64(len(files) - 1)) // without that of the folder
	}
	stat, _ := os.ReadFile("/proc/self/stat")
	text := string(stat)
	numbers := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // the name may have blanks and parentheses
	if len(numbers) < statNumbers {
		return load
	}
	number := func(i int) int64 {
		n, _ := strconv.ParseInt(numbers[i], 10, 64) // the kernel writes nothing else
		return n
	}
	load.CPUSeconds = new(float64(number(statUser)+number(statSystem)) / ticks)
	load.MemoryBytes = new(number(statPages) * int64(os.Getpagesize()))
	load.Threads = new(number(statThreads))
	return load
}
