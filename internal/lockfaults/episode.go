package lockfaults

import (
	"cmp"
	"testing"
	"time"
)

// Episode is a fault of the surroundings that begins, lasts for a while and passes. The server
// keeps its data, so everybody must be served again soon after the fault.
type Episode struct {
	Name string
	// Renews: the server renews leases during the fault, so that none may be lost.
	Renews bool

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
		return order{Lock: lock, TTL: ttl, Hold: TTL / 20, Wait: patience, Times: 1}
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
	l.stop()
	o := l.outcome(s, e, over, free)
	o.Lasted, o.Stall = over.Sub(began), stalls()
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
	if s.Runs {
		served(func(e event) bool { return e.Lock == ledLock && e.Kind == wrote && e.From.After(over) })
	}
	time.Sleep(time.Until(over.Add(TTL / 2)))
	for lock, w := range map[string]*worker{keptLock: holder, sharedLock: owner, ledLock: l.leader()} {
		if w != nil {
			free[lock] = time.Now()
			w.stdin.Close()
		}
	}
	for _, name := range []string{"patient waiter", "waiter", "caller", "newcomer"} {
		served(is(name, acquired))
	}
	if s.Runs {
		served(func(e event) bool {
			return e.Lock == ledLock && e.Kind == acquired && e.From.Before(free[ledLock]) && e.To.After(free[ledLock])
		})
		for _, name := range []string{"runner", "once 1", "once 2"} {
			served(is(name, returned))
		}
	}
	return free
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
