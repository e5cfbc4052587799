package main

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/pgstore"
	"github.com/oidkit/oid/store/sqlitestore"
)

var (
	simProcesses = flag.Int("processes", 300, "simulated processes")
	simTime      = flag.Duration("time", 30*time.Minute, "simulated time")
	simAgents    = flag.Int("agents", 10, "hosts, each with an agent that sends the heartbeats of its processes")
	simPostgres  = flag.String("postgres", "", "URL of a PostgreSQL database; default: a SQLite file")
)

const (
	simInterval    = 10 * time.Second
	outageFrom     = 10 * time.Minute
	outageTo       = 20 * time.Minute
	clockOff       = 30 * time.Second // at most, of a simulated process
	idsEach        = 0.02             // ids that a process creates in an interval, of those that are traced later
	tracesPerRound = 40
)

// metered is a store that is away for a time, and counts what is written.
type metered struct {
	store.Store
	away                        atomic.Bool
	calls, docs, bytes, inserts atomic.Int64
}

var errAway = errors.New("the store is away")

func (m *metered) check() error {
	m.calls.Add(1)
	if m.away.Load() {
		return errAway
	}
	return nil
}

func (m *metered) wrote(docs ...any) {
	for _, doc := range docs {
		raw, _ := bson.Marshal(doc)
		m.docs.Add(1)
		m.bytes.Add(int64(len(raw)))
	}
}

func (m *metered) Insert(ctx context.Context, c string, doc any) (store.Key, error) {
	if err := m.check(); err != nil {
		return store.Key{}, err
	}
	m.wrote(doc)
	return m.Store.Insert(ctx, c, doc)
}

func (m *metered) InsertMany(ctx context.Context, c string, docs []any, o *store.InsertOptions) ([]store.Key, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	m.wrote(docs...)
	return m.Store.InsertMany(ctx, c, docs, o)
}

func (m *metered) Swap(ctx context.Context, c string, old bson.Raw, doc any) (bson.Raw, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	m.wrote(doc)
	return m.Store.Swap(ctx, c, old, doc)
}

func (m *metered) SwapMany(ctx context.Context, c string, swaps []store.Swap) ([]bson.Raw, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	for _, s := range swaps {
		if s.New != nil {
			m.wrote(s.New)
		}
	}
	return m.Store.SwapMany(ctx, c, swaps)
}

func (m *metered) Get(ctx context.Context, c string, k store.Key) (bson.Raw, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	return m.Store.Get(ctx, c, k)
}

func (m *metered) GetMany(ctx context.Context, c string, keys []store.Key) ([]bson.Raw, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	return m.Store.GetMany(ctx, c, keys)
}

func (m *metered) Find(ctx context.Context, c string, q store.Query) iter.Seq2[bson.Raw, error] {
	if err := m.check(); err != nil {
		return func(yield func(bson.Raw, error) bool) { yield(nil, err) }
	}
	return m.Store.Find(ctx, c, q)
}

// simulated is a process of the simulation: the truth.
type simulated struct {
	gpid    gpid.GPID
	block   []byte // nil until it is registered
	ahead   time.Duration
	counter uint32
	alive   bool
}

// madeID is an id and the process that created it.
type madeID struct {
	id    objectid.ID
	maker gpid.GPID
}

// simulation is a number of hosts with an agent each, and what their processes did.
type simulation struct {
	t      *testing.T
	store  *metered
	agents []*registry.Registry
	of     [][]*simulated // by agent
	made   []madeID
	random *rand.Rand
	next   int

	beats, failedBeats, registered, ended, crashed int64
	traced, certain, uncertain, wrong              int64
}

func newSimulation(t *testing.T, s store.Store) *simulation {
	sim := &simulation{t: t, store: &metered{Store: s}, random: rand.New(rand.NewPCG(1, 2))}
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
	addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(agent), byte(n >> 8), byte(n)}), 8080)
	g, err := gpid.New(addr, time.Now().Add(ahead), 1+sim.next)
	if err != nil {
		sim.t.Fatal(err)
	}
	sim.of[agent] = append(sim.of[agent], &simulated{gpid: g, ahead: ahead, alive: true})
}

// create creates an id as the process would, by its own clock.
func (sim *simulation) create(p *simulated) {
	var id objectid.ID
	binary.BigEndian.PutUint32(id[:], uint32(time.Now().Add(p.ahead).Unix()))
	copy(id[4:], p.block)
	p.counter++
	binary.BigEndian.PutUint32(id[8:], p.counter)
	sim.made = append(sim.made, madeID{id, p.gpid})
}

// host does what the processes of a host do in an interval.
func (sim *simulation) host(agent int) {
	r := sim.agents[agent]
	ctx := sim.t.Context()
	var beats []registry.RemoteHeartbeat
	var living []*simulated
	for _, p := range sim.of[agent] {
		switch chance := sim.random.Float64(); {
		case p.block == nil: // a program that cannot register tries again
			o := &registry.RemoteOptions{Name: "simulated", Interval: simInterval, Clock: time.Now().Add(p.ahead)}
			if got, err := r.RegisterRemote(ctx, p.gpid, o); err == nil {
				p.block, _ = hex.DecodeString(got.Block)
				sim.registered++
			}
		case chance < 0.002: // killed
			p.alive = false
			sim.crashed++
		case chance < 0.004:
			if _, err := r.End(ctx, p.gpid, "done"); err == nil {
				p.alive = false
				sim.ended++
			}
		default:
			load := registry.Load{CPU: time.Duration(p.counter) * 10 * time.Millisecond, RSS: int64(20000+sim.random.IntN(40)) * 4096, Heap: sim.random.Int64N(30 << 20), Files: 20, Threads: 12, Goroutines: 50 + sim.random.Int64N(40)}
			beats = append(beats, registry.RemoteHeartbeat{GPID: p.gpid, Load: load, Clock: time.Now().Add(p.ahead)})
			if sim.random.Float64() < idsEach {
				sim.create(p)
			}
		}
		if p.alive {
			living = append(living, p)
		}
	}
	sim.of[agent] = living
	for _, err := range r.Heartbeats(ctx, beats) {
		if sim.beats++; err != nil {
			sim.failedBeats++
		}
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
		switch {
		case got.Verdict != registry.Known || got.Processes[0].GPID != made.maker:
			sim.wrong++
			sim.t.Errorf("%v of %v: %s (%s)", made.id, made.maker, got.Verdict, got.Reason)
		case got.Certain:
			sim.certain++
		default:
			sim.uncertain++
		}
		// An id with the same block from long before or after: never certain.
		other := made.id
		binary.BigEndian.PutUint32(other[:], uint32(made.id.Time().AddDate(0, 0, 2*sim.random.IntN(2)-1).Unix()))
		if got, err := r.Trace(sim.t.Context(), other); err == nil && got.Certain {
			sim.wrong++
			sim.t.Errorf("%v, which %v did not create: %s", other, made.maker, got.Verdict)
		}
	}
}

// TestSimulation runs many processes with the real registry in simulated time: they
// start, end, are killed and come again, with clocks that are off, while the store is
// away for ten minutes. All traces are compared with the truth.
//
//	go test ./registry -run Simulation -v -processes 100000 -time 40m
func TestSimulation(t *testing.T) {
	file := filepath.Join(t.TempDir(), "registry.db")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))) // simulated time begins in 2000
		var s store.Store
		var err error
		if *simPostgres != "" {
			s, err = pgstore.Open(t.Context(), *simPostgres, nil)
		} else {
			s, err = sqlitestore.Open(t.Context(), file, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		sim := newSimulation(t, s)
		keeper := sim.registry() // as oid serve
		for i := range *simProcesses {
			sim.start(i % *simAgents)
		}
		began, used := time.Now(), processorTime()
		for at := time.Duration(0); at < *simTime; at += simInterval {
			sim.store.away.Store(at >= outageFrom && at < outageTo)
			for agent := range sim.agents {
				sim.host(agent)
				for len(sim.of[agent]) < *simProcesses / *simAgents {
					sim.start(agent)
				}
				time.Sleep(simInterval / time.Duration(len(sim.agents)))
			}
			if _, err := keeper.Sweep(t.Context()); err != nil && !sim.store.away.Load() {
				t.Errorf("sweep: %v", err)
			}
			sim.trace(keeper, tracesPerRound)
		}
		sim.trace(keeper, 20*tracesPerRound)
		used = processorTime() - used
		sim.report(time.Since(began), used, file)
	})
}

func (sim *simulation) report(took, used time.Duration, file string) {
	size := int64(0)
	if info, err := os.Stat(file); err == nil {
		size = info.Size()
	}
	stored := sim.beats - sim.failedBeats
	for _, line := range []string{
		fmt.Sprintf("simulated %v, %d processes, %d hosts", took.Round(time.Second), *simProcesses, *simAgents),
		fmt.Sprintf("registered %d, ended %d, killed %d", sim.registered, sim.ended, sim.crashed),
		fmt.Sprintf("heartbeats %d, of which the store took %d", sim.beats, stored),
		fmt.Sprintf("ids traced %d: certain %d, known but not certain %d, wrong %d", sim.traced, sim.certain, sim.uncertain, sim.wrong),
		fmt.Sprintf("processor time a heartbeat %v, with everything", (used / time.Duration(max(stored, 1))).Round(100*time.Nanosecond)),
		fmt.Sprintf("documents written a heartbeat %.3f, bytes %.1f", float64(sim.store.docs.Load())/float64(stored), float64(sim.store.bytes.Load())/float64(stored)),
		fmt.Sprintf("calls of the store a heartbeat %.4f", float64(sim.store.calls.Load())/float64(stored)),
		fmt.Sprintf("file %d bytes, %d a registered process", size, size/max(sim.registered, 1)),
	} {
		sim.t.Log(line)
	}
	if sim.wrong != 0 || sim.certain == 0 {
		sim.t.Errorf("%d traces are wrong, %d certain", sim.wrong, sim.certain)
	}
}
