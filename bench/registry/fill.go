package main

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

const samplesEach = 6

// record is the document of a process.
type record struct {
	Key              string `bson:"_id"`
	registry.Process `bson:",inline"`
}

// fill records n processes at 1,000 addresses that ran for a minute each, a
// minute after one another, and returns an id of each. Each tenth is alive on another
// host, every other one of the rest was killed. It is as if they had registered, sent
// heartbeats and ended, with version 1 of the format; a sweep upgrades them.
func fill(ctx context.Context, s store.Store, n int) ([]objectid.ID, error) {
	m, err := registry.New(s, nil).Register(ctx, &registry.RegisterOptions{Name: "bench", Addr: "10.0.0.1:1"})
	if err != nil {
		return nil, err
	}
	if err := m.End(ctx, "copied"); err != nil {
		return nil, err
	}
	ids := make([]objectid.ID, n)
	began := m.Process().From.Add(-time.Duration(n) * time.Minute)
	var processes, values, samples []any
	for i := range n {
		p := m.Process()
		binary.BigEndian.PutUint32(ids[i][:], uint32(began.Unix())+30)
		binary.BigEndian.PutUint32(ids[i][4:], uint32(i+1)*2654435761)
		p.Block = hex.EncodeToString(ids[i][4:8])
		p.Value = p.Block
		p.GPID = gpid.MustParse(fmt.Sprintf("10.0.%d.%d:8080:%d:4711", i%1000/250, i%250+1, began.UnixMicro()))
		key := p.GPID.String() + "/" + p.Block
		p.From, p.Last.Time = began, began.Add(time.Minute)
		p.End = &registry.End{Time: began.Add(time.Minute), Reason: "bench"}
		if i%2 == 0 {
			p.End = nil // killed
		}
		p.Kernel.Ticks++ // of another run
		if i%10 == 9 {
			p.End, p.Remote, p.Kernel.Boot, p.Last.Time = nil, true, "", time.Now().UTC()
		}
		processes = append(processes, record{key, p})
		values = append(values, bson.D{{Key: "_id", Value: p.Block}, {Key: "member", Value: p.Member}, {Key: "process", Value: key}})
		for k := range samplesEach {
			at := began.Add(time.Duration(k) * 10 * time.Second)
			samples = append(samples, bson.D{{Key: "_id", Value: fmt.Sprintf("%s:%013d", p.Block, at.UnixMilli())}, {Key: "cpu", Value: int64(k) * 1e9}, {Key: "rss", Value: int64(50 << 20)}})
		}
		began = began.Add(time.Minute)
	}
	for name, docs := range map[string][]any{"oid.processes": processes, "oid.values": values, "oid.samples": samples} {
		if _, err := s.InsertMany(ctx, name, docs, nil); err != nil {
			return nil, fmt.Errorf("fill %s: %w", name, err)
		}
	}
	if err := s.Drop(ctx, "oid.registry"); err != nil && !errors.Is(err, store.ErrNotFound) { // so that it is upgraded
		return nil, err
	}
	began = time.Now()
	done, err := registry.New(s, nil).Sweep(ctx)
	fmt.Fprintf(os.Stderr, "upgraded and swept in %v: %+v\n", time.Since(began).Round(time.Millisecond), done)
	return ids, err
}
