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
	"github.com/oidkit/oid/internal/otelresource"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// MemberOptions configure a [Member]. A nil pointer and the zero value mean the defaults.
type MemberOptions struct {
	// Load returns the load that heartbeats report. A member never calls it twice at the
	// same time. Default: the size of the heap and the number of goroutines of this process.
	// On a system with /proc, the default also has its processor time, memory, open files
	// and threads.
	Load func() wire.Load
	// Warn is called twice for each outage of the server: with the first error, and with
	// an error that wraps [ErrBack] when the server answers again. During the outage the
	// member tries again after growing pauses. They grow to about a minute, or to about
	// eight heartbeat intervals if that is shorter. A member never calls Warn twice at the
	// same time. Default: the errors are dropped.
	//
	// Warn is also called if an attribute that this process says of itself by OpenTelemetry is
	// left out, because it is too long, for example.
	Warn func(error)
}

// ErrBack is wrapped by the error that [MemberOptions].Warn receives when the server
// answers again.
var ErrBack = errors.New("client: the server answers again")

// Member is this process as it is registered with a server. It creates ids with a process
// block that belongs to this process alone, without a request for each id, and sends
// heartbeats until [Member.End]. Any number of goroutines may share it.
type Member struct {
	client  *Client
	options MemberOptions
	as      wire.Registration
	ids     *objectid.Generator
	reader  otelresource.Reader
	untold  *wire.Description // what the server is not told yet, or nil
	again   chan struct{}     // asks for another registration
	stop    context.CancelFunc
	stopped chan struct{}

	mu    sync.Mutex
	me    wire.Registered
	spare *[4]byte // a block that the generator has not taken yet
}

const (
	// The API accepts intervals between two heartbeats within these bounds.
	shortestInterval = time.Second
	longestInterval  = time.Hour

	// longestSilence bounds the pause between two attempts in an outage, in heartbeat
	// intervals. A process counts as dead after three of them.
	longestSilence = 8
)

// NewMember registers this process and starts its heartbeats. If r.PID is 0, it means the pid
// of this process. If r.Host is empty, it means the name of this host. What r leaves out of name,
// version and labels is what this process says of itself by OpenTelemetry, in its environment or
// in a mapping OTEL_CTX. A name that is still empty is that of the program. If the server later has
// no record of the member, the member registers again and creates its further ids with another
// process block.
//
// The errors are those of [Client.Register]. NewMember also returns an error if r has evidence
// ids, because evidence ids are for a process whose ids another library creates. Register such
// a process with [Client.Register].
func (c *Client) NewMember(ctx context.Context, r wire.Registration, o *MemberOptions) (*Member, error) {
	if len(r.EvidenceIDs) > 0 {
		return nil, errors.New("client: a member creates its ids with a process block, so it has no evidence ids; to adopt a process use Client.Register")
	}
	m := &Member{client: c, options: *cmp.Or(o, &MemberOptions{}), as: r, again: make(chan struct{}, 1), stopped: make(chan struct{})}
	if m.options.Load == nil {
		m.options.Load = ownLoad
	}
	if m.options.Warn == nil {
		m.options.Warn = func(error) {}
	}
	m.reader.Given = otelresource.Description{Name: r.Name, Version: r.Version, Labels: r.Labels}
	m.describe()
	m.as.Name = cmp.Or(m.as.Name, filepath.Base(os.Args[0]))
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

// Generator returns the generator of the member's ids. A member has one generator, even if
// it registers again.
func (m *Member) Generator() *objectid.Generator { return m.ids }

// GPID returns the GPID of this process, ip:port:start_time:pid. It changes if the member
// registers again.
func (m *Member) GPID() string { return m.registered().GPID }

// Key returns the member key, which names the registration in requests. It changes if the
// member registers again.
func (m *Member) Key() string { return m.registered().Member }

// End stops the heartbeats and records the end of the process. It takes at most five
// seconds. reason is text for human readers.
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

// register registers the process and returns its block. After an error, the process may
// have been registered nevertheless, so the next call sends the same idempotency key. A
// conflict about the key is the exception: the next call draws another.
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
		return block, fmt.Errorf("%w: process block %q and interval %v s, want 8 hexadecimal digits and %v to %v",
			ErrResponse, me.ProcessBlock, me.IntervalSeconds, shortestInterval, longestInterval)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.me = me
	return [4]byte(b), nil
}

// newBlock gives the generator another block: the spare one, if there is one. Otherwise
// it makes keep register the process again. The generator calls newBlock when this machine
// may be a copy of another one.
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

// keep sends heartbeats until ctx ends, the first one at once. It registers the process
// again when the generator or the server asks for it. After each failed call it waits
// longer.
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
				m.options.Warn(err) // the member keeps its block and creates ids
			}
			again, wait = nil, pauseAfter(&pause, err, min(longestSilence*interval, longestPause)) // a nil channel does not shorten the pause
		default:
			if !failing.IsZero() {
				m.options.Warn(fmt.Errorf("%w after %v", ErrBack, time.Since(failing).Round(time.Second)))
			}
			again, wait, failing = m.again, interval, time.Time{}
			pause.Reset()
		}
	}
}

// describe reads what this process says of itself, and reports whether that has changed.
func (m *Member) describe() bool {
	said, err := m.reader.Read()
	if said == nil {
		return false
	}
	if err != nil {
		m.options.Warn(fmt.Errorf("client: %w", err))
	}
	m.as.Name, m.as.Version, m.as.Labels = cmp.Or(said.Name, m.as.Name), cmp.Or(said.Version, m.as.Version), said.Labels
	return true
}

// call sends a heartbeat. If register is set, or if the server does not know the member any
// more, it sends a registration. It reports whether the next call must send one.
func (m *Member) call(ctx context.Context, register bool, limit time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if !register {
		if m.describe() {
			m.untold = &wire.Description{Name: m.as.Name, Version: m.as.Version, Labels: m.as.Labels}
		}
		if m.untold != nil {
			beat := wire.Heartbeat{Load: m.options.Load(), Clock: time.Now(), Description: m.untold}
			if _, err := m.client.Heartbeats(ctx, []wire.HeartbeatOf{{Member: m.Key(), Heartbeat: beat}}); err != nil {
				return false, err
			}
			m.untold = nil
		}
		_, err := m.client.Heartbeat(ctx, m.Key(), m.options.Load())
		if problem, ok := errors.AsType[*Error](err); !ok || !problem.Gone() {
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
	m.ids.Reseed() // calls newBlock, which takes the spare block
	return false, nil
}

// IDs creates the ids of this process. It registers a [Member] when the first id is needed,
// so that a program can start before its server. After that, ids need no request, and an
// outage of the server does not delay them. Each id has the time at which New returned it,
// by the clock of this host, and can be traced to this process. Set the fields before the
// first call; any number of goroutines may then share it.
type IDs struct {
	// Client calls the server. It is required.
	Client *Client
	// Registration describes this process, see [Client.NewMember].
	Registration wire.Registration
	// Options are the options of the member. Nil means the defaults.
	Options *MemberOptions

	mu     sync.Mutex
	latest *attempt // the latest attempt to register; nil if the next call starts one
	pause  backoff.Backoff
}

// attempt is one attempt to register. Its other fields are set before done is closed.
type attempt struct {
	done   chan struct{}
	member *Member
	err    error
}

// New returns a new id. Each id is greater than the one before, unless the member has
// registered again between the two. The errors are those of [IDs.Member].
func (s *IDs) New(ctx context.Context) (objectid.ID, error) {
	m, err := s.Member(ctx)
	if err != nil {
		return objectid.ID{}, err
	}
	return m.New(), nil
}

// Member returns the member that creates the ids. Use it to read the GPID or to end the member.
// The first call registers the member, which takes at most ten seconds. The error is that of
// [Client.NewMember] or, if ctx ends first, that of ctx. If the registration fails, a pause
// begins. During the pause, all calls return the error of that registration at once; the first
// call after the pause registers again. The pause grows from a second to a minute.
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

// register makes one attempt. All callers that arrive meanwhile share its result.
func (s *IDs) register(a *attempt) {
	defer close(a.done)
	s.Registration.Key = cmp.Or(s.Registration.Key, rand.Text()) // all attempts share a key, because a response may have been lost
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

// Positions of numbers in /proc/self/stat, see proc_pid_stat(5). Position 0 is the field
// after the name of the program.
const (
	statUser    = 11 // processor time in user mode, in ticks
	statSystem  = 12 // processor time in the kernel, in ticks
	statThreads = 17
	statPages   = 21 // resident pages
	statNumbers = 22 // how many of them are needed

	ticks = 100 // per second, on every architecture that Go runs on
)

// ownLoad returns the load of this process, as the Go runtime and /proc show it.
func ownLoad() wire.Load {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/sched/goroutines:goroutines"}}
	metrics.Read(s)
	load := wire.Load{HeapBytes: new(int64(s[0].Value.Uint64())), Goroutines: new(int64(s[1].Value.Uint64()))}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		load.Files = new(int64(len(files) - 1)) // without the descriptor of the folder itself
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
