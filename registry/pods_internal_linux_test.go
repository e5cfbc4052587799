package registry

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"iter"
	"math/rand/v2"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/memstore"
)

var podServices = flag.Int("services", 2, "services of ten pods each in the simulation of pods")

const (
	podReplicas = 10
	podNodes    = 9
	podTime     = 40 * time.Minute
	podAway     = 10 * time.Minute // when the store goes away, and for how long
	podKilled   = 13 * time.Minute // when a third of the nodes are killed
	podMore     = 25 * time.Minute // when others are, while the store is there
)

// mayBeAway is a store that can be away.
type mayBeAway struct {
	store.Store
	away atomic.Bool
}

func ifThere[T any](s *mayBeAway, do func() (T, error)) (none T, err error) {
	if s.away.Load() {
		return none, errAway
	}
	return do()
}

func (s *mayBeAway) Get(ctx context.Context, c string, k store.Key) (bson.Raw, error) {
	return ifThere(s, func() (bson.Raw, error) { return s.Store.Get(ctx, c, k) })
}

func (s *mayBeAway) GetMany(ctx context.Context, c string, keys []store.Key) ([]bson.Raw, error) {
	return ifThere(s, func() ([]bson.Raw, error) { return s.Store.GetMany(ctx, c, keys) })
}

func (s *mayBeAway) InsertMany(ctx context.Context, c string, docs []any, o *store.InsertOptions) ([]store.Key, error) {
	return ifThere(s, func() ([]store.Key, error) { return s.Store.InsertMany(ctx, c, docs, o) })
}

func (s *mayBeAway) SwapMany(ctx context.Context, c string, swaps []store.Swap) ([]bson.Raw, error) {
	return ifThere(s, func() ([]bson.Raw, error) { return s.Store.SwapMany(ctx, c, swaps) })
}

func (s *mayBeAway) FindMany(ctx context.Context, c string, ranges []store.Range, limit int) ([][]bson.Raw, error) {
	return ifThere(s, func() ([][]bson.Raw, error) { return s.Store.FindMany(ctx, c, ranges, limit) })
}

func (s *mayBeAway) Find(ctx context.Context, c string, q store.Query) iter.Seq2[bson.Raw, error] {
	if s.away.Load() {
		return func(yield func(bson.Raw, error) bool) { yield(nil, errAway) }
	}
	return s.Store.Find(ctx, c, q)
}

// pod is a process with pid 1. Each service has ten that started in one second.
type pod struct {
	service, node int
	generation    time.Time
	gpid          gpid.GPID
	ahead         time.Duration // its clock
	remote        bool
	recorder      *recorder // of one that is not remote
	value         []byte    // nil until it is registered
	block         string
	key           MemberKey
	counter       uint32
}

// pods is the simulation.
type pods struct {
	t      *testing.T
	store  *mayBeAway
	server *Registry
	random *rand.Rand
	all    []*pod
	made   []podID
	counts map[string]int
}

type podID struct {
	id objectid.ID
	by *pod
}

// start starts a replica of a service. Its address and its second are those of the
// others.
func (w *pods) start(service, node int, generation time.Time) {
	p := &pod{service: service, node: node, generation: generation, remote: service%3 == 0, ahead: time.Duration(node-podNodes/2) * 10 * time.Second}
	if node == 0 {
		p.ahead = 10 * time.Minute
	}
	var err error
	if p.gpid, err = gpid.New(netip.MustParseAddrPort("0.0.0.0:8080"), generation.Truncate(time.Second), 1); err != nil {
		w.t.Fatal(err)
	}
	w.counts["pods"]++
	w.all = append(w.all, p)
}

func (w *pods) clock(p *pod) time.Time { return time.Now().Add(p.ahead) }

// beat registers a pod, or sends a heartbeat of it.
func (w *pods) beat(p *pod) (err error) {
	ctx, load := w.t.Context(), Load{CPU: time.Duration(p.counter) * time.Millisecond, RSS: 1 << 20}
	name := "service" + string(rune('a'+p.service%26))
	switch {
	case p.remote && p.value == nil:
		var got Process
		got, err = w.server.RegisterRemote(ctx, p.gpid, &RemoteOptions{Name: name, Host: nodeName(p.node), Interval: pace, Clock: w.clock(p)})
		p.block, p.key = got.Block, got.Key()
	case p.remote:
		_, err = w.server.Heartbeat(ctx, &RemoteHeartbeat{Member: p.key, Load: load, Clock: w.clock(p)})
	default:
		if p.recorder == nil {
			id := uint64(w.random.Uint32())
			r := New(w.store, &Options{Now: func() time.Time { return w.clock(p) }})
			p.recorder = r.newRecorder(Process{
				GPID: p.gpid, Member: randomID(), Name: name, Host: nodeName(p.node), Interval: pace, Registered: monotonic(), Network: id,
				Kernel: gpid.Process{Boot: nodeName(p.node), Namespace: id >> 1, PID: 1, Ticks: 1},
			})
		}
		err = p.recorder.heartbeat(ctx, &load, 0, nil)
		p.block = p.recorder.process().Block
	}
	if err == nil && p.value == nil {
		p.value = unhex(w.t, p.block)
	}
	return err
}

func nodeName(n int) string { return "node" + string(rune('a'+n)) }

// create lets a pod create an id.
func (w *pods) create(p *pod) {
	if p.value == nil {
		return
	}
	id := objectid.MinAt(w.clock(p))
	copy(id[4:], p.value)
	p.counter++
	binary.BigEndian.PutUint32(id[8:], p.counter)
	w.made = append(w.made, podID{id, p})
}

// kill kills all pods of some nodes, and starts others of the same services elsewhere.
func (w *pods) kill(from, to int) {
	before, now := w.all, time.Now()
	w.all = nil
	for _, p := range before {
		if p.node < from || p.node >= to {
			w.all = append(w.all, p)
			continue
		}
		w.create(p)
		w.counts["killed"]++
	}
	for range len(before) - len(w.all) {
		p := before[w.random.IntN(len(before))]
		w.start(p.service, (to+w.random.IntN(podNodes-to+from))%podNodes, now)
	}
}

// check traces ids and compares with the truth.
func (w *pods) check(r *Registry, ids []podID) {
	for _, made := range ids {
		tr, err := r.Trace(w.t.Context(), made.id)
		if err != nil {
			w.t.Fatal(err)
		}
		w.counts["traces "+string(tr.Verdict)]++
		if tr.Certain {
			w.counts["certain"]++
		}
		if right := len(tr.Processes) == 1 && tr.Processes[0].Block == made.by.block; tr.Verdict != Known || !right {
			w.counts["wrong"]++
			w.t.Errorf("id %v of a pod on %s: %s, certain %v (%s)", made.id, nodeName(made.by.node), tr.Verdict, tr.Certain, tr.Reason)
		}
		other := made.id // with a time at which it did not run
		binary.BigEndian.PutUint32(other[:], uint32(made.id.Time().AddDate(0, 0, 2*w.random.IntN(2)-1).Unix()))
		if tr, err := r.Trace(w.t.Context(), other); err != nil || tr.Certain {
			w.counts["wrong"]++
			w.t.Errorf("id %v, which nobody created: certain (%s), %v", other, tr.Reason, err)
		}
	}
}

func (w *pods) some(n int) (ids []podID) {
	for range min(n, len(w.made)) {
		ids = append(ids, w.made[w.random.IntN(len(w.made))])
	}
	return ids
}

// Pods have pid 1, one address and the second in which all replicas started. A third of
// them die with their node while the store is away, and others later; old records are
// pruned. No trace is wrong with confidence, and no id is a conflict that its process
// created.
func TestPodsInASimulation(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))) // simulated time begins in 2000
		w := &pods{t: t, store: &mayBeAway{Store: memstore.New()}, random: rand.New(rand.NewPCG(7, 8)), counts: map[string]int{}}
		w.server = New(w.store, nil)
		keeper := New(w.store, nil)
		began := time.Now()
		for i := range *podServices {
			for replica := range podReplicas {
				w.start(i, (i+replica)%podNodes, began)
			}
		}
		for at := time.Duration(0); at < podTime; at += pace {
			away := at >= podAway && at < 2*podAway
			w.store.away.Store(away)
			for _, p := range w.all {
				w.create(p)
				if err := w.beat(p); err != nil && !away && !errors.Is(err, errAway) {
					t.Errorf("heartbeat: %v", err)
				}
			}
			switch at {
			case podKilled:
				w.kill(0, podNodes/3)
			case podMore:
				w.kill(podNodes/3, podNodes/3+2)
			}
			time.Sleep(pace)
			if away {
				continue
			}
			if _, err := keeper.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			if at%(10*time.Minute) == 0 {
				done, err := keeper.Prune(t.Context(), &PruneOptions{Samples: 5 * time.Minute, Records: 10 * time.Minute})
				if err != nil {
					t.Fatal(err)
				}
				w.counts["pruned"] += int(done.Records)
			}
			w.check(keeper, w.some(4**podServices))
			w.check(New(w.store, nil), w.some(2))
		}
		w.check(keeper, w.some(700**podServices))
		w.check(New(w.store, nil), w.some(200**podServices))
		t.Logf("%d ids: %v", len(w.made), w.counts)
		for what, least := range map[string]int{"killed": *podServices * podReplicas / 3, "pruned": *podServices * podReplicas / 3, "traces known": 1500 * *podServices, "certain": 1000 * *podServices} {
			if w.counts[what] < least {
				t.Errorf("%s: %d, want %d or the simulation shows little", what, w.counts[what], least)
			}
		}
	})
}
