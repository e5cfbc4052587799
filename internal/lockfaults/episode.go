package lockfaults

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Episode is a fault of the surroundings that begins, lasts for a while and passes. The server
// keeps its data, so everybody must be served again soon after the fault.
type Episode struct {
	Name string
	// Renews: the server renews leases during the fault, so that none may be lost.
	Renews bool
	// Final: the server gives an error that somebody must mend, so that calls which begin
	// during the fault may end with it. Those that wait already do not, and Lead does not.
	Final bool

	open func(l *lab) scene
}

// scene is where an episode takes place.
type scene struct {
	url        string        // of the server, for all workers
	begin, end func()        // of the fault
	ttl        time.Duration // of leases that outlive the fault; 0 means episodeTTL
}

// How long things take in an episode.
const (
	// episodeTTL is the TTL of leases that outlive the fault.
	episodeTTL = 6 * TTL
	// episodeTime is how long the fault lasts, at least.
	episodeTime = 5 * TTL / 2
	// episodeLimit is how long after the fault to look who is served.
	episodeLimit = 10 * TTL
)

// The locks of an episode.
const (
	keptLock   = "kept"   // its TTL is longer than the fault
	sharedLock = "shared" // its TTL is shorter than the fault
	freeLock   = "free"   // nobody wants it before the fault
	callLock   = "call"   // the same, with a client that has connected before
	ledLock    = "led"
	jobLock    = "job"
	longLock   = "long job" // the job begins before the fault and ends during it
)

// Run lets the fault happen while workers use the subject, and returns how they fared.
//
// The holder of keptLock can keep its lease by a renewal after the fault; the holder of
// sharedLock cannot, unless the server renews leases during the fault. Somebody waits for each.
// After the fault, both holders release. Newcomers ask for free locks during the fault. If the
// subject can, two processes elect a leader, which ends after the fault, and others run jobs
// once.
func (e Episode) Run(t testing.TB, s Subject) Outcome {
	t.Helper()
	return e.run(t, s, false)
}

// Attack is Run, but stops workers at random during the fault and after it, for up to 1.5 TTL.
func (e Episode) Attack(t testing.TB, s Subject) Outcome {
	t.Helper()
	return e.run(t, s, true)
}

func (e Episode) run(t testing.TB, s Subject, attack bool) Outcome {
	t.Helper()
	l := &lab{t: t, subject: s, ttl: TTL, changed: make(chan struct{})}
	stalls := watchStalls()
	scene := e.open(l)
	long := cmp.Or(scene.ttl, episodeTTL)
	enter := func(name string, o order) *worker {
		w := l.connected(name, scene.url, o)
		w.begin()
		return w
	}
	turn := func(lock string, ttl time.Duration) order {
		o := order{Lock: lock, TTL: ttl, Hold: TTL / 20, Wait: patience}
		if !attack {
			o.Times = 1
		}
		return o
	}
	holder := enter("holder", order{Lock: keptLock, TTL: long, Wait: patience})
	owner := enter("owner", order{Lock: sharedLock, Wait: patience})
	l.holds(holder)
	l.holds(owner)
	enter("patient waiter", turn(keptLock, long))
	enter("waiter", turn(sharedLock, TTL))
	meanwhile := []*worker{l.connected("caller", scene.url, turn(callLock, TTL))}
	if s.Runs {
		l.holds(enter("leader 1", order{Lock: ledLock, Role: leads}))
		enter("leader 2", order{Lock: ledLock, Role: leads})
		meanwhile = append(meanwhile,
			l.connected("once 1", scene.url, order{Lock: jobLock, Role: runsOnce, Hold: TTL / 20}),
			l.connected("once 2", scene.url, order{Lock: jobLock, Role: runsOnce, Hold: TTL / 20}))
		time.Sleep(TTL / 2) // so that all are in their queues
		l.holds(enter("runner", order{Lock: longLock, Role: runsOnce, TTL: long, Hold: episodeTime / 2}))
	} else {
		time.Sleep(TTL / 2)
	}

	attacked := func() int { return 0 }
	if attack {
		attacked = l.attack()
	}
	began := time.Now()
	scene.begin()
	begun := time.Now()
	time.Sleep(TTL / 5)
	newcomer := turn(freeLock, TTL)
	newcomer.URL = scene.url
	meanwhile = append(meanwhile, l.launch("newcomer", newcomer))
	for _, w := range meanwhile {
		w.begin()
	}
	time.Sleep(max(time.Until(began.Add(episodeTime)), time.Until(begun.Add(3*TTL/2))))
	scene.end()
	over := time.Now()

	end := over.Add(episodeLimit)
	free := l.afterwards(s, over, end, holder, owner)
	stops := attacked()
	l.stop()
	// The last renewal before the fault was up to a third of the TTL ago; the next needs a second.
	keeps := over.Sub(began)+TTL <= long*19/20-long/3
	o := l.outcome(s, e, over, free, keeps)
	o.Lasted, o.Stall, o.Stops = over.Sub(began), stalls(), stops
	return o
}

// connected starts a worker and waits until it has connected.
func (l *lab) connected(name, url string, o order) *worker {
	l.t.Helper()
	o.URL = url
	return l.prepare(name, o)
}

// afterwards ends the holders and the leader half a second after the fault, and waits until
// everybody has been served, until end. It returns when it ended each of them.
func (l *lab) afterwards(s Subject, over, end time.Time, holder, owner *worker) (free map[string]time.Time) {
	free = make(map[string]time.Time)
	served := func(match func(event) bool) { l.within(time.Until(end), match) }
	release := func(lock string, w *worker) {
		if w != nil {
			free[lock] = time.Now()
			w.stdin.Close()
		}
	}
	time.Sleep(time.Until(over.Add(TTL / 2)))
	release(keptLock, holder)
	release(sharedLock, owner)
	for _, name := range []string{"patient waiter", "waiter", "caller", "newcomer"} {
		served(is(name, acquired))
	}
	if !s.Runs {
		return free
	}
	for _, name := range []string{"runner", "once 1", "once 2"} {
		served(is(name, returned))
	}
	served(func(e event) bool { return e.Lock == ledLock && e.Kind == wrote && e.From.After(over) })
	release(ledLock, l.leader())
	served(func(e event) bool { return e.Lock == ledLock && e.Kind == acquired && e.To.After(free[ledLock]) })
	return free
}

// attack stops workers at random, one at a time, until the function that it returns is called.
// That function returns how often.
func (l *lab) attack() (end func() int) {
	victims := slices.Clone(l.workers)
	stop, stops := make(chan struct{}), make(chan int)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				stops <- n
				return
			case <-time.After(rand.N(TTL / 10)):
			}
			w := victims[rand.IntN(len(victims))]
			from := time.Now()
			if w.cmd.Process.Signal(stopSignal) != nil {
				continue // it has ended
			}
			time.Sleep(rand.N(3 * TTL / 2))
			l.stopped = append(l.stopped, span{w.name, from, time.Now()})
			_ = w.cmd.Process.Signal(continueSignal)
		}
	}()
	return func() int {
		close(stop)
		return <-stops
	}
}

// leader returns the worker that led last, or nil.
func (l *lab) leader() (w *worker) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var last time.Time
	for _, e := range l.events {
		if e.Lock == ledLock && e.Kind == wrote && e.From.After(last) {
			last = e.From
			for _, candidate := range l.workers {
				if e.of(candidate.name) {
					w = candidate
				}
			}
		}
	}
	return w
}
