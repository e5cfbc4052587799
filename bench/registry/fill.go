package main

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/classic"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

const samplesEach = 6

// version is that of the registry's documents.
const version = 1

// record is the document of a process that has ended.
type record struct {
	Key              string `bson:"_id"`
	Version          int    `bson:"v"`
	Final            bool   `bson:"final"`
	registry.Process `bson:",inline"`
}

// samplesFrom returns the document of the samples of a process, 10 s after one another,
// each with processor time and memory, as the registry writes it.
func samplesFrom(block string, at time.Time) bson.D {
	data := binary.AppendUvarint([]byte{samplesEach}, uint64(at.UnixMilli()))
	data = binary.AppendVarint(append(data, 0b110, 0), 50<<20/4096)
	for range samplesEach - 1 {
		data = binary.AppendUvarint(data, 10_000)
		data = binary.AppendVarint(append(data, 0b010), 100) // 10 ms each
	}
	return bson.D{{Key: "_id", Value: fmt.Sprintf("%s:%013d", block, at.UnixMilli())}, {Key: "v", Value: version}, {Key: "d", Value: data}}
}

// fill records n processes at 1,000 addresses that ran for a minute each, a
// minute after one another, and returns an id of each. Each tenth is alive on another
// host, every other one of the rest was killed. It is as if they had registered, sent
// heartbeats and ended.
func fill(ctx context.Context, s store.Store, n int) ([]objectid.ID, error) {
	m, err := registry.New(s, nil).Register(ctx, &registry.RegisterOptions{Name: "bench", Addr: "10.0.0.1:1"})
	if err != nil {
		return nil, err
	}
	if err := m.End(ctx, "copied"); err != nil {
		return nil, err
	}
	ids := make([]objectid.ID, n)
	first := m.Process().From.Add(-time.Duration(n) * time.Minute)
	run := func(i int) (began time.Time, process gpid.GPID) {
		began = first.Add(time.Duration(i) * time.Minute)
		return began, gpid.MustParse(fmt.Sprintf("%s:%d:4711", addr(i), began.UnixMicro()))
	}
	var processes, ends, values, samples, hosts []any
	put := func() error {
		for name, docs := range map[string]*[]any{"oid.processes": &processes, "oid.ended": &ends, "oid.values": &values, "oid.samples": &samples, "oid.hosts": &hosts} {
			if _, err := s.InsertMany(ctx, name, *docs, nil); err != nil {
				return fmt.Errorf("fill %s: %w", name, err)
			}
			*docs = (*docs)[:0]
		}
		return nil
	}
	for i := range n {
		began, process := run(i)
		p := m.Process()
		p.Member = objectid.New()
		binary.BigEndian.PutUint32(ids[i][:], uint32(began.Unix())+30)
		binary.BigEndian.PutUint32(ids[i][4:], uint32(i+1)*2654435761)
		p.Block = hex.EncodeToString(ids[i][4:8])
		p.Value = p.Block
		p.GPID = process
		key := p.GPID.String() + "/" + p.Block
		p.From, p.Last.Time = began, began.Add(time.Minute)
		p.End = &registry.End{Time: began.Add(time.Minute), Reason: "bench"}
		if i%2 == 0 {
			p.End = nil // killed
		}
		p.Kernel.Ticks += uint64(i + 1) // each is a run of its own, and replaced by the next at its address
		p.Registered = time.Duration(i+1) * time.Minute
		p.Last.Monotonic = p.Registered + time.Minute
		if i%10 != 9 {
			processes = append(processes, record{key, version, true, p})
			ends = append(ends, bson.D{{Key: "_id", Value: fmt.Sprintf("%013d:%s", p.Last.Time.UnixMilli(), key)}, {Key: "v", Value: version}})
			values = append(values, bson.D{{Key: "_id", Value: p.Block}, {Key: "v", Value: version}, {Key: "member", Value: p.Member}, {Key: "process", Value: key}})
			samples = append(samples, samplesFrom(p.Block, began))
			hosts = append(hosts, bson.D{{Key: "_id", Value: classic.Value(p.Host, p.GPID.PID()) + ":" + key}, {Key: "v", Value: version}, {Key: "host", Value: p.Host}})
		}
		if len(processes) == 20_000 || i == n-1 {
			if err := put(); err != nil {
				return nil, err
			}
		}
	}
	// Those that live come last: their values are random, and RegisterRemote avoids those in the store.
	living := registry.New(s, nil)
	for i := 9; i < n; i += 10 {
		_, process := run(i)
		p, err := living.RegisterRemote(ctx, process, &registry.RemoteOptions{Name: "bench", Host: m.Process().Host})
		if err != nil {
			return nil, err
		}
		ids[i] = objectid.MinAt(p.From)
		if _, err := hex.Decode(ids[i][4:8], []byte(p.Block)); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// addr returns the address of the i-th process.
func addr(i int) string { return fmt.Sprintf("10.0.%d.%d:8080", i%1000/250, i%250+1) }

// idsOf returns an id of some processes at each address of a registry that fill has
// filled.
func idsOf(ctx context.Context, s store.Store) (ids []objectid.ID, err error) {
	for i := range 1000 {
		from, err := store.StringKey(addr(i) + ":")
		if err != nil {
			return nil, err
		}
		to, err := store.StringKey(addr(i) + ";") // which follows the colon
		if err != nil {
			return nil, err
		}
		for raw, err := range s.Find(ctx, "oid.processes", store.Query{Range: store.Range{From: from, To: to}, Limit: 20}) {
			if err != nil {
				return nil, err
			}
			run, block, _ := strings.Cut(raw.Lookup("_id").StringValue(), "/")
			id := objectid.MinAt(gpid.MustParse(run).Start().Add(30 * time.Second))
			if _, err := hex.Decode(id[4:8], []byte(block)); err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
	}
	return ids, nil
}
