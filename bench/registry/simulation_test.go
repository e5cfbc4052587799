package main

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/bench/page"
	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/pgstore"
	"github.com/oidkit/oid/store/sqlitestore"
)

var (
	simProcesses = flag.Int("processes", 300, "simulated processes")
	simLabels    = flag.Int("labels", 0, "labels of each process")
	simTime      = flag.Duration("time", 30*time.Minute, "simulated time")
	simAgents    = flag.Int("agents", 10, "hosts, each with an agent that sends the heartbeats of its processes")
	simPostgres  = flag.String("postgres", "", "URL of a PostgreSQL database; default: a SQLite file")
	simInterval  = flag.Duration("interval", 10*time.Second, "simulated time between two heartbeats of a process")
	simOutage    = flag.Duration("outage", 10*time.Minute, "when the store goes away for ten minutes")
	simIDs       = flag.Float64("ids", 0.02, "ids that a process creates in an interval, of those that may be traced later")
)

const (
	outage         = 10 * time.Minute
	clockOff       = 30 * time.Second // at most, of a simulated process
	driverShare    = 0.15             // of processes that are adopted
	killedShare    = 0.002            // in an interval
	endedShare     = 0.002            // in an interval
	tracesPerRound = 40
	sweepEvery     = 20 * time.Second // as oid serve
	pruneEvery     = 10 * time.Minute
	hostsAtOnce    = 2
	within         = 1.25 // the factor that arithmetic and simulation agree within
)

// simulated is a process of the simulation: the truth.
type simulated struct {
	gpid    gpid.GPID
	member  registry.MemberKey
	host    string
	values  [][]byte // process values; those of a process with a block once it is registered
	driver  bool     // it is adopted
	ahead   time.Duration
	counter uint32
	entered bool
	killed  bool
	ended   bool
}

// madeID is an id and the process that created it.
type madeID struct {
	id     objectid.ID
	maker  gpid.GPID
	driver bool
}

// simulation is a number of hosts with an agent each, and what their processes did.
type simulation struct {
	t       *testing.T
	store   *metered
	agents  []*registry.Registry
	of      [][]*simulated // by agent
	members []*registry.Member
	made    []madeID
	random  *rand.Rand
	next    int
	values  map[[5]byte]bool // of drivers, which here are drawn once each

	beats, failedBeats, registered, drivers, ended, killed, memberRuns int64
	traced, certain, uncertain, wrong                                  int64
	moved, pruned                                                      int64

	onBeats, onTraces, onOrder time.Duration // processor time
}

func newSimulation(t *testing.T, s store.Store) *simulation {
	sim := &simulation{t: t, store: &metered{Store: s}, random: rand.New(rand.NewPCG(1, 2)), values: map[[5]byte]bool{}}
	for range *simAgents {
		sim.agents = append(sim.agents, sim.registry())
		sim.of = append(sim.of, nil)
	}
	return sim
}

func (sim *simulation) registry() *registry.Registry {
	return registry.New(sim.store, &registry.Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
}

// start starts a process of a host, at an address that others had before.
func (sim *simulation) start(agent int) {
	sim.next++
	n := sim.next % (2 * *simProcesses)
	ahead := time.Duration(sim.random.Int64N(int64(2*clockOff))) - clockOff
	addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}), 8080)
	g, err := gpid.New(addr, time.Now().Add(ahead), 1+sim.next%(1<<22))
	if err != nil {
		sim.t.Fatal(err)
	}
	p := &simulated{gpid: g, host: fmt.Sprintf("host%d", agent), ahead: ahead, driver: sim.random.Float64() < driverShare}
	for p.driver && len(p.values) < 1+sim.random.IntN(3) {
		v := [5]byte(binary.BigEndian.AppendUint64(nil, sim.random.Uint64()))
		if !sim.values[v] {
			sim.values[v], p.values = true, append(p.values, v[:])
		}
	}
	sim.of[agent] = append(sim.of[agent], p)
}

// id returns the next id of the process, by its own clock.
func (p *simulated) id(value int) (id objectid.ID) {
	binary.BigEndian.PutUint32(id[:], uint32(time.Now().Add(p.ahead).Unix()))
	p.counter = (p.counter + 1) & 0xffffff
	binary.BigEndian.PutUint32(id[8:], p.counter)
	copy(id[4:], p.values[value])
	return id
}

// labelsOf returns the labels of a process, as many as its resource of OpenTelemetry may have.
func labelsOf(n int) map[string]string {
	labels := map[string]string{}
	for i := range *simLabels {
		labels[fmt.Sprintf("k8s.attribute%02d.name", i)] = fmt.Sprintf("shop-7d9c5b7f4-%05d", n)
	}
	return labels
}

// enter registers or adopts the process.
func (p *simulated) enter(ctx context.Context, r *registry.Registry) {
	o := &registry.RemoteOptions{Name: "simulated", Host: p.host, Interval: *simInterval, Clock: time.Now().Add(p.ahead), Labels: labelsOf(p.gpid.PID())}
	if p.driver {
		var samples []objectid.ID
		for i := range p.values {
			samples = append(samples, p.id(i))
		}
		got, err := r.AdoptRemote(ctx, p.gpid, samples, objectid.Modern, o)
		p.member, p.entered = got.Key(), err == nil || errors.Is(err, registry.ErrCollision)
		return
	}
	if got, err := r.RegisterRemote(ctx, p.gpid, o); err == nil {
		block, _ := hex.DecodeString(got.Block)
		p.values, p.member, p.entered = [][]byte{block}, got.Key(), true
	}
}

// turn is what the processes of a host do in an interval.
type turn struct {
	r                *registry.Registry
	entering, ending []*simulated
	beats            []registry.RemoteHeartbeat
	errs             []error // of beats
}

// choose decides what the processes of a host do in an interval, and lets them create
// ids.
func (sim *simulation) choose(agent int) *turn {
	turn := &turn{r: sim.agents[agent]}
	for _, p := range sim.of[agent] {
		switch chance := sim.random.Float64(); {
		case !p.entered: // a program that cannot register tries again
			turn.entering = append(turn.entering, p)
			continue
		case chance < killedShare:
			p.killed = true
			sim.killed++
		case chance < killedShare+endedShare:
			turn.ending = append(turn.ending, p)
		default:
			load := randomLoad()
			load.CPU = time.Duration(p.counter) * 10 * time.Millisecond
			turn.beats = append(turn.beats, registry.RemoteHeartbeat{Member: p.member, Load: load, Clock: time.Now().Add(p.ahead)})
		}
		if sim.random.Float64() < *simIDs { // also just before it is killed or ends
			sim.made = append(sim.made, madeID{p.id(sim.random.IntN(len(p.values))), p.gpid, p.driver})
		}
	}
	return turn
}

// do does it.
func (turn *turn) do(ctx context.Context) {
	atOnce(turn.entering, func(p *simulated) { p.enter(ctx, turn.r) })
	atOnce(turn.ending, func(p *simulated) {
		_, err := turn.r.End(ctx, p.member, "done", 0)
		p.ended = err == nil
	})
	turn.errs = turn.r.Heartbeats(ctx, turn.beats)
}

// count counts what was done.
func (sim *simulation) count(agent int, turn *turn) {
	for _, p := range turn.entering {
		if p.entered {
			sim.registered++
			if p.driver {
				sim.drivers += int64(len(p.values))
			}
		}
	}
	sim.of[agent] = slices.DeleteFunc(sim.of[agent], func(p *simulated) bool {
		if p.ended {
			sim.ended++
		}
		return p.ended || p.killed
	})
	for _, err := range turn.errs {
		sim.beats++
		if errors.Is(err, registry.ErrEnded) || err != nil && !sim.store.away.Load() && !errors.Is(err, registry.ErrCollision) {
			sim.t.Errorf("heartbeat: %v", err)
		}
		if err != nil {
			sim.failedBeats++
		}
	}
}

// hosts lets the processes of some hosts do what they do in an interval.
func (sim *simulation) hosts(from, to int) {
	var turns []*turn
	for agent := from; agent < to; agent++ {
		turns = append(turns, sim.choose(agent))
	}
	var wg sync.WaitGroup
	for _, turn := range turns {
		wg.Go(func() { turn.do(sim.t.Context()) })
	}
	wg.Wait()
	for i, turn := range turns {
		sim.count(from+i, turn)
	}
}

// atOnce calls do for each process, several at a time.
func atOnce(all []*simulated, do func(*simulated)) {
	places := make(chan struct{}, 64)
	var wg sync.WaitGroup
	for _, p := range all {
		places <- struct{}{}
		wg.Go(func() {
			do(p)
			<-places
		})
	}
	wg.Wait()
}

// runMembers lets real members create ids, end, and start again at their addresses,
// while their own goroutines send heartbeats.
func (sim *simulation) runMembers() {
	for i, m := range sim.members {
		if m == nil || sim.random.Float64() < 0.01 {
			if m != nil && m.End(sim.t.Context(), "done") != nil {
				continue // the store is away
			}
			addr := fmt.Sprintf("10.255.%d.%d:9000", i>>8, i&255)
			m, err := sim.registry().Register(sim.t.Context(), &registry.RegisterOptions{Addr: addr, Name: "member", Interval: *simInterval})
			if err != nil && !sim.store.away.Load() {
				sim.t.Errorf("register: %v", err)
			}
			if sim.members[i] = m; m == nil {
				continue
			}
			sim.memberRuns++
		}
		sim.made = append(sim.made, madeID{sim.members[i].Generator().New(), sim.members[i].GPID(), false})
	}
}

// trace compares traces with the truth.
func (sim *simulation) trace(r *registry.Registry, n int) {
	for range n {
		if len(sim.made) == 0 {
			return
		}
		made := sim.made[sim.random.IntN(len(sim.made))]
		got, err := r.Trace(sim.t.Context(), made.id)
		if err != nil {
			if !sim.store.away.Load() {
				sim.t.Errorf("trace: %v", err)
			}
			continue
		}
		sim.traced++
		want := registry.Known
		if made.driver {
			want = registry.Claimed
		}
		switch {
		case got.Verdict != want || got.Processes[0].GPID != made.maker || made.driver && got.Certain:
			sim.wrong++
			sim.t.Errorf("%v of %v: %s (%s)", made.id, made.maker, got.Verdict, got.Reason)
		case got.Certain:
			sim.certain++
		default:
			sim.uncertain++
		}
		// An id with the same process value from long before or after: never certain.
		other := made.id
		binary.BigEndian.PutUint32(other[:], uint32(made.id.Time().AddDate(0, 0, 2*sim.random.IntN(2)-1).Unix()))
		if got, err := r.Trace(sim.t.Context(), other); err == nil && got.Certain {
			sim.wrong++
			sim.t.Errorf("%v, which %v did not create: %s", other, made.maker, got.Verdict)
		}
	}
}

// order does what oid serve does from time to time.
func (sim *simulation) order(keeper *registry.Registry, at time.Duration) {
	if at%sweepEvery != 0 {
		return
	}
	done, err := keeper.Sweep(sim.t.Context())
	sim.moved += done
	if err == nil && at%pruneEvery == 0 {
		var pruned registry.Pruned
		pruned, err = keeper.Prune(sim.t.Context(), &registry.PruneOptions{Samples: 5 * time.Minute, Records: 15 * time.Minute})
		sim.pruned += pruned.Records
	}
	if err != nil && !sim.store.away.Load() {
		sim.t.Errorf("sweep and prune: %v", err)
	}
}

// timed adds the processor time of do to a sum.
func timed(sum *time.Duration, do func()) {
	used := page.ProcessorTime()
	do()
	*sum += page.ProcessorTime() - used
}

// TestSimulation runs many processes with the real registry in simulated time: they
// register or are adopted, end, are killed and come again, with clocks that are off,
// while the store is away for ten minutes, and old records are pruned. All traces are
// compared with the truth, and what is written with docs/scale.md.
//
//	go test ./registry -run Simulation -v -processes 100000 -agents 100 -time 40m
func TestSimulation(t *testing.T) {
	file := filepath.Join(t.TempDir(), "registry.db")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))) // simulated time begins in 2000
		var s store.Store
		var err error
		if *simPostgres != "" {
			s, err = pgstore.Open(t.Context(), *simPostgres)
		} else {
			s, err = sqlitestore.Open(t.Context(), file, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		sim := newSimulation(t, s)
		sim.members = make([]*registry.Member, min(100, *simProcesses/20))
		keeper := sim.registry() // as oid serve
		for i := range *simProcesses {
			sim.start(i % *simAgents)
		}
		began := time.Now()
		for at := time.Duration(0); at < *simTime; at += *simInterval {
			sim.store.away.Store(at >= *simOutage && at < *simOutage+outage)
			for first := 0; first < len(sim.agents); first += hostsAtOnce {
				next := min(first+hostsAtOnce, len(sim.agents))
				timed(&sim.onBeats, func() { sim.hosts(first, next) })
				for agent := first; agent < next; agent++ {
					for len(sim.of[agent]) < *simProcesses / *simAgents {
						sim.start(agent)
					}
				}
				time.Sleep(*simInterval * time.Duration(next-first) / time.Duration(len(sim.agents)))
			}
			sim.runMembers()
			timed(&sim.onOrder, func() { sim.order(keeper, at) })
			timed(&sim.onTraces, func() { sim.trace(keeper, tracesPerRound) })
		}
		timed(&sim.onTraces, func() { sim.trace(keeper, 20*tracesPerRound) })
		for _, m := range sim.members {
			if m != nil && m.End(t.Context(), "done") != nil {
				t.Error("a member did not end")
			}
		}
		sim.report(time.Since(began), file)
	})
}

// expected returns how many documents the arithmetic of docs/scale.md says.
func (sim *simulation) expected() float64 {
	stored := float64(sim.beats - sim.failedBeats)
	const registration, end, crash = 4, 4, 3 // claim, host, living record, record; the last three with the samples and the entry
	return stored*(1+1.0/6) + float64(registration*sim.registered+sim.drivers+end*sim.ended+crash*sim.moved+2*sim.pruned) +
		float64(sim.memberRuns)*(registration+end) + float64(len(sim.members))*(*simTime-outage).Seconds()/simInterval.Seconds()*(1+1.0/6)
}

func (sim *simulation) report(took time.Duration, file string) {
	size := int64(0)
	if info, err := os.Stat(file); err == nil {
		size = info.Size()
	}
	stored := max(sim.beats-sim.failedBeats, 1)
	ratio := float64(sim.store.docs.Load()) / sim.expected()
	for _, line := range []string{
		fmt.Sprintf("simulated %v, %d processes, %d hosts, %d members", took.Round(time.Second), *simProcesses, *simAgents, len(sim.members)),
		fmt.Sprintf("registered %d with %d adopted values, ended %d, killed %d, swept %d, pruned %d", sim.registered, sim.drivers, sim.ended, sim.killed, sim.moved, sim.pruned),
		fmt.Sprintf("heartbeats %d, of which the store took %d", sim.beats, stored),
		fmt.Sprintf("ids traced %d: certain %d, not certain %d, wrong %d", sim.traced, sim.certain, sim.uncertain, sim.wrong),
		fmt.Sprintf("processor time a heartbeat %v with starts and ends; traces %v each; sweeps and prunes %v", (sim.onBeats / time.Duration(stored)).Round(100*time.Nanosecond),
			(sim.onTraces / time.Duration(max(2*sim.traced, 1))).Round(time.Microsecond), sim.onOrder.Round(time.Millisecond)),
		fmt.Sprintf("documents written %d, arithmetic %.0f, factor %.3f", sim.store.docs.Load(), sim.expected(), ratio),
		fmt.Sprintf("documents written a heartbeat %.3f, bytes %.1f", float64(sim.store.docs.Load())/float64(stored), float64(sim.store.bytes.Load())/float64(stored)),
		fmt.Sprintf("calls of the store a heartbeat %.4f", float64(sim.store.calls.Load())/float64(stored)),
		fmt.Sprintf("file %d bytes, %d a registered process", size, size/max(sim.registered, 1)),
	} {
		sim.t.Log(line)
	}
	if sim.wrong != 0 || sim.certain == 0 {
		sim.t.Errorf("%d traces are wrong, %d certain", sim.wrong, sim.certain)
	}
	if ratio > within || ratio < 1/within {
		sim.t.Errorf("simulation and arithmetic differ by a factor of %.2f, want %v at most", ratio, within)
	}
}
