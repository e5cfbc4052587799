package lockfaults

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// variable is the environment variable whose presence makes a program a worker. It contains
// the order.
const variable = "OID_LOCKFAULTS_WORKER"

// order is what a worker must do.
type order struct {
	Subject string
	URL     string
	Lock    string // the name of the lock; "" means the one for which all contend
	Role    role   // how to use the lock; "" means to take it again and again
	TTL     time.Duration
	Hold    time.Duration // how long to hold the lock each time; 0 means as long as possible
	Wait    time.Duration // how long to wait for the lock each time
	Many    int           // number of goroutines that do so, with one client; 0 means one
	Times   int           // how often each goroutine takes the lock; 0 means until stdin ends

	program string // to run; "" means the test program
}

// Kinds of events. A worker writes its events to stdout, one per line. From and To mean:
const (
	unopened = "unopened" // the client could not be opened
	started  = "started"  // the client is open
	asking   = "asking"   // From: Acquire was called
	acquired = "acquired" // From: Acquire was called; To: it returned a lease
	wrote    = "wrote"    // From: the holder checked its lease; To: it wrote
	ended    = "ended"    // From: the lease began; To: the holder last saw it valid
	gaveUp   = "gave up"  // From: Acquire was called; To: it returned an error
	stepped  = "stepped"  // From: the wall clock was stepped
	returned = "returned" // From: Lead or Once was called; To: it returned
	closed   = "closed"   // the client was closed; Goroutines and Files were left over
)

type event struct {
	Kind     string
	Worker   string
	From, To time.Time
	Fence    uint64
	Late     time.Duration // from the end of Acquire's ctx to To
	Error    string
	Lost     string // why the lease ended before its release
	Early    bool   // the error came although the caller's ctx had not ended
	Lock     string // the name of the lock, if the order names one

	Goroutines, Files int
}

// Main runs the program as a worker, and does not return, if it was started as one. Call it
// before anything else.
func Main(subjects ...Subject) {
	text := os.Getenv(variable)
	if text == "" {
		return
	}
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fail(err)
	}
	for _, s := range subjects {
		if s.Name == o.Subject {
			if err := work(s, o); err != nil {
				fail(err)
			}
			os.Exit(0)
		}
	}
	fail(fmt.Errorf("no subject %q", o.Subject))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "worker:", err)
	os.Exit(1)
}

// teller writes the events of one goroutine to stdout.
type teller struct {
	mu   *sync.Mutex
	out  *json.Encoder
	lock string
	part string // number of the goroutine, such as /3, or ""
}

// Encode writes an event.
func (t teller) Encode(e event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.Worker, e.Lock = t.part, t.lock
	return t.out.Encode(e)
}

// work opens a client. After a line on stdin it takes the lock again and again until stdin
// ends. Each further line is a step of the clock.
func work(s Subject, o order) error {
	tell := teller{mu: new(sync.Mutex), out: json.NewEncoder(os.Stdout), lock: o.Lock}
	ctx, stop := context.WithCancel(context.Background())
	begin := make(chan struct{})
	go func() {
		defer stop()
		orders := bufio.NewScanner(os.Stdin)
		orders.Scan()
		close(begin)
		for orders.Scan() {
			e, err := step(orders.Text())
			if err != nil {
				fail(err)
			}
			_ = tell.Encode(e)
		}
	}()
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil { // Go opens some files once, which stay open: do not count them
		l.Close()
	}
	goroutines, files := runtime.NumGoroutine(), openFiles()
	client, err := s.Open(ctx, o.URL, o.TTL)
	for ; err != nil && o.Lock != "" && ctx.Err() == nil; client, err = s.Open(ctx, o.URL, o.TTL) {
		_ = tell.Encode(event{Kind: unopened, Error: err.Error()})
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		return err
	}
	_ = tell.Encode(event{Kind: started})
	<-begin
	var all errgroup.Group
	for i := range max(1, o.Many) {
		tell := tell
		if o.Many > 0 {
			tell.part = fmt.Sprintf("/%d", i+1)
		}
		all.Go(func() error { return o.Role.play(ctx, client, o, tell) })
	}
	if err := all.Wait(); err != nil {
		return err
	}
	<-ctx.Done()
	client.Close()
	e := event{Kind: closed}
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		e.Goroutines, e.Files = runtime.NumGoroutine()-goroutines+1, openFiles()-files // +1: the goroutine that read stdin has ended
		if e.Goroutines <= 0 && e.Files <= 0 {
			break
		}
	}
	if e.Goroutines > 0 {
		stacks := make([]byte, 1<<16)
		e.Error = string(stacks[:runtime.Stack(stacks, true)])
	}
	return tell.Encode(e)
}

// openFiles returns the number of files and connections that this process has open.
func openFiles() int {
	files, _ := os.ReadDir("/proc/self/fd")
	return len(files)
}

// turns takes the lock as often as the order says.
func turns(ctx context.Context, client Client, o order, tell teller) error {
	for n := 0; ctx.Err() == nil && (o.Times == 0 || n < o.Times); {
		had, err := turn(ctx, client, o, tell)
		if err != nil {
			return err
		}
		if had {
			n++
		}
	}
	return nil
}

// turn takes the lock once and holds it. It reports whether it got the lock.
func turn(ctx context.Context, client Client, o order, tell teller) (bool, error) {
	waiting, cancel := context.WithTimeout(ctx, o.Wait)
	defer cancel()
	var over atomic.Pointer[time.Time]
	stop := context.AfterFunc(waiting, func() { over.Store(new(clock())) })
	defer stop()
	asked := clock()
	if err := tell.Encode(event{Kind: asking, From: asked}); err != nil {
		return false, err
	}
	lease, err := client.Acquire(waiting, cmp.Or(o.Lock, name))
	granted := clock()
	if err != nil {
		if ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		e := event{Kind: gaveUp, From: asked, To: granted, Error: err.Error(), Early: waiting.Err() == nil}
		if end := over.Load(); end != nil {
			e.Late = granted.Sub(*end)
		}
		return false, tell.Encode(e)
	}
	e := event{Kind: acquired, From: asked, To: granted, Fence: lease.Fence()}
	if err := tell.Encode(e); err != nil {
		return true, err
	}
	known, lost, err := hold(ctx, lease, o.Hold, granted, tell)
	if err != nil {
		return true, err
	}
	e = event{Kind: ended, From: granted, To: known, Fence: lease.Fence(), Lost: lost}
	if err := lease.Release(); err != nil {
		e.Error = err.Error()
	}
	return true, tell.Encode(e)
}

// hold writes to the resource under a lease, which was granted at a time, until ctx ends or
// the lease has been held for long; 0 means as long as possible. It returns when the lease was
// last seen valid, and why it ended before that, or "".
func hold(ctx context.Context, lease Lease, long time.Duration, granted time.Time, tell teller) (known time.Time, lost string, err error) {
	known = granted
	for ctx.Err() == nil && (long == 0 || clock().Sub(granted) < long) {
		now := clock()
		if err := lease.Check(); err != nil {
			return known, err.Error(), nil
		}
		known = now
		if err := tell.Encode(event{Kind: wrote, From: now, To: clock(), Fence: lease.Fence()}); err != nil {
			return known, "", err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return known, "", nil
}
