package registry

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/classic"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/memstore"
)

// world is a simulation of hosts whose processes register, create ids, copy
// themselves, restart, crash and end. Its time goes on by one interval at a time.
type world struct {
	t       *testing.T
	store   store.Store
	random  *rand.Rand
	now     time.Time
	running []*simulated
	pids    int
	ids     []created
	counts  map[string]int
}

// simulated is a process of the world.
type simulated struct {
	kind     kind
	gpid     gpid.GPID
	member   MemberKey // of a remote process
	kernel   gpid.Process
	host     string
	behind   time.Duration // by how much its clock is behind
	recorder *recorder     // of a member
	values   [][]byte      // process values, of 4 or 5 bytes
	counter  uint32
	copied   bool
}

type kind int

const (
	member      kind = iota
	remoteBlock      // registers over the API
	driver           // is adopted
	rubyDriver       // writes host and pid, and is adopted by nobody
	stranger         // is not recorded at all
	kinds
)

// created is an id and the process that created it.
type created struct {
	id        objectid.ID
	candidate *simulated
	kind      kind // of the value that it has
}

const pace = 10 * time.Second

func (w *world) registry(behind time.Duration) *Registry {
	return New(w.store, &Options{Now: func() time.Time { return w.now.Add(-behind) }})
}

// clock is the time of p.
func (w *world) clock(p *simulated) time.Time { return w.now.Add(-p.behind) }

// start starts a process at an address.
func (w *world) start(k kind, addr netip.AddrPort, host string, behind time.Duration) *simulated {
	w.t.Helper()
	w.pids++
	p := &simulated{kind: k, host: host, behind: behind, counter: w.random.Uint32N(1 << 24)}
	p.kernel = gpid.Process{Boot: "boot of " + host, Namespace: 1, PID: w.pids, Ticks: uint64(w.pids)}
	w.enter(p, addr, 1)
	w.running = append(w.running, p)
	return p
}

// enter records a program of the process.
func (w *world) enter(p *simulated, addr netip.AddrPort, program uint32) {
	w.t.Helper()
	var err error
	if p.gpid, err = gpid.New(addr, w.clock(p), p.kernel.PID); err != nil {
		w.t.Fatal(err)
	}
	w.counts[[...]string{"members", "remote", "drivers", "ruby", "strangers"}[p.kind]]++
	p.values, p.recorder, p.copied = nil, nil, false
	server := w.registry(0)
	switch p.kind {
	case member:
		p.recorder = w.registry(p.behind).newRecorder(Process{
			GPID: p.gpid, Member: randomID(), Name: "member", Host: p.host, Kernel: p.kernel, Program: program, Interval: pace, Registered: monotonic(),
		})
		w.beat(p, nil)
	case remoteBlock:
		r, err := server.RegisterRemote(w.t.Context(), p.gpid, &RemoteOptions{Name: "remote", Host: p.host, Interval: pace, Clock: w.clock(p)})
		if err != nil {
			w.t.Fatal(err)
		}
		p.member, p.values = r.Key(), [][]byte{unhex(w.t, r.Block)}
	case driver:
		p.values = [][]byte{w.draw(5), w.draw(5)}
		r, err := server.AdoptRemote(w.t.Context(), p.gpid, []objectid.ID{w.id(p, 0), w.id(p, 1)}, objectid.Modern,
			&RemoteOptions{Name: "driver", Interval: pace, Clock: w.clock(p)})
		if err != nil {
			w.t.Fatal(err)
		}
		p.member = r.Key()
	case rubyDriver:
		p.values = [][]byte{unhex(w.t, classic.Value(p.host, p.gpid.PID()))}
	case stranger:
		p.values = [][]byte{w.draw(5)}
	}
}

func unhex(t *testing.T, text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (w *world) draw(n int) []byte {
	return binary.BigEndian.AppendUint64(nil, w.random.Uint64())[:n]
}

// id returns the next id of p with one of its values.
func (w *world) id(p *simulated, value int) objectid.ID {
	id := objectid.MinAt(w.clock(p))
	p.counter = (p.counter + 1) & 0xffffff
	binary.BigEndian.PutUint32(id[8:], p.counter)
	copy(id[4:], p.values[value])
	return id
}

// create lets p create an id with each of its values.
func (w *world) create(p *simulated) {
	for i := range p.values {
		w.ids = append(w.ids, created{w.id(p, i), p, p.kind})
	}
}

// beat sends a heartbeat of p, the last one if end is not nil.
func (w *world) beat(p *simulated, end *End) {
	w.t.Helper()
	ctx, load := w.t.Context(), Load{CPU: time.Second, RSS: 1 << 20}
	var err error
	switch p.kind {
	case member:
		err = p.recorder.heartbeat(ctx, &load, 0, end)
		if errors.Is(err, errOverwritten) { // as Member does
			w.counts["copies found"]++
			if err = p.recorder.registerAfterCopy(ctx); err == nil {
				err = p.recorder.heartbeat(ctx, &load, 0, end)
			}
		}
		p.values = [][]byte{unhex(w.t, p.recorder.process().Value)}
	case remoteBlock, driver:
		if end == nil {
			_, err = w.registry(0).Heartbeat(ctx, &RemoteHeartbeat{Member: p.member, Load: load, Clock: w.clock(p)})
		} else {
			_, err = w.registry(0).End(ctx, p.member, end.Reason, 0)
		}
	}
	if err != nil {
		w.t.Fatalf("heartbeat of %v: %v", p.gpid, err)
	}
}

// copy lets a copy of a member run beside it.
func (w *world) copy(p *simulated) {
	from, twin := p.recorder, *p
	p.copied, twin.copied = true, true
	twin.recorder = &recorder{registry: w.registry(p.behind), random: from.random, clock: from.clock, registration: from.registration, p: from.process()}
	twin.counter++
	w.running = append(w.running, &twin)
	w.counts["copies"]++
}

// live lets each process live for one interval.
func (w *world) live() {
	w.now = w.now.Add(pace)
	before := w.running
	w.running = nil
	for _, p := range before {
		w.create(p)
		switch n := w.random.IntN(100); {
		case n < 3: // it ends
			w.create(p)
			w.beat(p, &End{Reason: "done"})
			w.counts["ended"]++
			continue
		case n < 6: // it crashes after its heartbeat
			w.beat(p, nil)
			w.create(p)
			w.counts["crashed"]++
			continue
		case n < 8: // it is killed, and started again at its address
			w.create(p)
			w.start(p.kind, p.gpid.Addr(), p.host, p.behind)
			w.counts["restarted"]++
			continue
		case n < 9 && p.kind == member && !p.copied: // it is replaced by exec
			w.now = w.now.Add(time.Millisecond)
			q := *p
			w.enter(&q, p.gpid.Addr(), 2)
			w.running = append(w.running, &q)
			w.counts["replaced by exec"]++
			continue
		case n < 10 && p.kind == member && !p.copied:
			w.copy(p)
		case n < 14: // its heartbeat is lost
			w.running = append(w.running, p)
			continue
		}
		w.beat(p, nil)
		w.running = append(w.running, p)
	}
}

// check traces an id and compares the answer with the truth.
func (w *world) check(r *Registry, c created) {
	tr, err := r.Trace(w.t.Context(), c.id)
	if err != nil {
		w.t.Fatal(err)
	}
	w.counts["traces "+string(tr.Verdict)]++
	right := len(tr.Processes) == 1 && tr.Processes[0].GPID == c.candidate.gpid
	if tr.Reason == "" {
		w.t.Errorf("id %v: %s without a reason", c.id, tr.Verdict)
	}
	if tr.Certain && !right {
		w.t.Errorf("id %v of %v (kind %d): certain, and wrong: %v", c.id, c.candidate.gpid, c.kind, tr.Processes)
	}
	found := tr.Verdict == Known || tr.Verdict == Claimed
	switch c.kind {
	case member, remoteBlock:
		// It is known, or the process was copied, or its clock explains it.
		if tr.Verdict == Known && !right || !found && !c.candidate.copied {
			w.t.Errorf("id %v of %v (kind %d): %s (%s) %v", c.id, c.candidate.gpid, c.kind, tr.Verdict, tr.Reason, tr.Processes)
		}
		if tr.Certain {
			w.counts["certain"]++
		}
	case driver:
		if tr.Verdict != Claimed || tr.Certain || !right {
			w.t.Errorf("id %v of the adopted %v: %s (%s) %v", c.id, c.candidate.gpid, tr.Verdict, tr.Reason, tr.Processes)
		}
	case rubyDriver:
		if tr.Verdict != Unknown || tr.Classic == nil || tr.Classic.Host != c.candidate.host {
			w.t.Errorf("id %v of %v with host %s: %s (%s)", c.id, c.candidate.gpid, c.candidate.host, tr.Verdict, tr.Reason)
		}
	case stranger:
		if tr.Verdict != Unknown {
			w.t.Errorf("id %v of a process that is not recorded: %s (%s)", c.id, tr.Verdict, tr.Reason)
		}
	}
}

// In an hour of several hundred processes no trace is wrong with confidence, and
// each id of a registered process is known or says why not.
func TestTraceInASimulation(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	w := &world{
		t: t, store: memstore.New(), random: rand.New(rand.NewPCG(5, 6)), counts: map[string]int{}, pids: 1000,
		now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC),
	}
	hosts := []string{"shop1", "shop2", "db1", "worker.example"}
	offsets := []time.Duration{0, 0, 2 * time.Second, -2 * time.Second, 45 * time.Second, -45 * time.Second, 10 * time.Minute}
	for i := range 100 {
		if i < 60 {
			h := w.random.IntN(len(hosts))
			addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(h + 1)}), uint16(w.random.IntN(3000)))
			for range 4 {
				w.start(kind(w.random.IntN(int(kinds))), addr, hosts[h], offsets[(h+w.random.IntN(2))%len(offsets)])
				addr = netip.AddrPortFrom(addr.Addr(), addr.Port()+1)
			}
		}
		w.live()
		if i%25 == 24 { // also while they live
			r := w.registry(0)
			for range 100 {
				w.check(r, w.ids[w.random.IntN(len(w.ids))])
			}
		}
	}
	r := w.registry(0)
	for range 3000 {
		w.check(r, w.ids[w.random.IntN(len(w.ids))])
	}
	t.Logf("%d ids: %v", len(w.ids), w.counts)
	for what, least := range map[string]int{
		"members": 40, "remote": 40, "drivers": 40, "ruby": 40, "strangers": 40, "ended": 30, "crashed": 30, "restarted": 20, "replaced by exec": 3, "copies": 3,
		"copies found": 3, "traces known": 500, "traces claimed": 300, "traces unknown": 300, "certain": 500,
	} {
		if w.counts[what] < least {
			t.Errorf("%s: %d, want %d or the simulation shows little", what, w.counts[what], least)
		}
	}
}
