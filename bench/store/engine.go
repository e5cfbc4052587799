package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"github.com/dustin/go-humanize"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/bench/page"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

// measureStore measures the engine for SQLite itself.
func measureStore(ctx context.Context, folder string, data []row, rounds int) (string, error) {
	docs, err := marshal(data, 300)
	if err != nil {
		return "", err
	}
	s, _, err := fillStore(ctx, filepath.Join(folder, "engine.db"), docs)
	if err != nil {
		return "", err
	}
	defer s.Close()
	table, err := compare(ctx, data, rounds, []way{
		{"Find over the range of _id", findBetween(s, "events")},
		{"Find over everything, comparing a field", func(ctx context.Context, from, to time.Time) (n int, err error) {
			for doc, err := range s.Find(ctx, "events", store.Query{}) {
				if err != nil {
					return n, err
				}
				if at := doc.Lookup("at").Time(); !at.Before(from) && at.Before(to) {
					n++
				}
			}
			return n, nil
		}},
	})
	if err != nil {
		return "", err
	}
	rates, err := throughput(ctx, folder, data)
	return "| store on a SQLite file | time | ratio |\n|---|---:|---:|\n" + table + "\n" + rates, err
}

// findBetween counts the documents with an _id of a stretch.
func findBetween(s store.Store, collection string) func(ctx context.Context, from, to time.Time) (int, error) {
	return func(ctx context.Context, from, to time.Time) (n int, err error) {
		for _, err := range s.Find(ctx, collection, store.Query{Range: store.IDRange(objectid.Between(from, to))}) {
			if err != nil {
				return n, err
			}
			n++
		}
		return n, nil
	}
}

// marshal returns the documents of data, with so many characters of their texts.
func marshal(data []row, length int) ([]any, error) {
	docs := make([]any, len(data))
	for i, r := range data {
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: r.id}, {Key: "at", Value: r.at}, {Key: "text", Value: r.text[len(r.text)-length:]}})
		if err != nil {
			return nil, err
		}
		docs[i] = bson.Raw(doc)
	}
	return docs, nil
}

// fillStore makes a file of docs and returns how many a second it took.
func fillStore(ctx context.Context, path string, docs []any) (*sqlitestore.Store, float64, error) {
	s, err := sqlitestore.Open(ctx, path, nil)
	if err != nil {
		return nil, 0, err
	}
	began := time.Now()
	for rest := docs; len(rest) > 0; {
		batch := rest[:min(len(rest), 10_000)]
		if _, err := s.InsertMany(ctx, "events", batch, nil); err != nil {
			return nil, 0, err
		}
		rest = rest[len(batch):]
	}
	return s, float64(len(docs)) / time.Since(began).Seconds(), nil
}

// throughput measures how fast small documents go in and come out.
func throughput(ctx context.Context, folder string, data []row) (string, error) {
	docs, err := marshal(data, 60)
	if err != nil {
		return "", err
	}
	var inserts, finds []float64
	var memory uint64
	for i := range 3 {
		s, in, err := fillStore(ctx, filepath.Join(folder, fmt.Sprintf("small%d.db", i)), docs)
		if err != nil {
			return "", err
		}
		out, used, err := readAll(ctx, s, len(docs))
		if err != nil {
			return "", err
		}
		inserts, finds, memory = append(inserts, in), append(finds, out), max(memory, used)
		if err := s.Close(); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("Of %s documents of %d bytes InsertMany, 10,000 at a time, takes %s a second; Find over all of them gives %s a second (medians of 3) and holds %.1f MB of memory at most.\n",
		humanize.Comma(int64(len(docs))), len(docs[0].(bson.Raw)), humanize.Comma(int64(page.Median(inserts))), humanize.Comma(int64(page.Median(finds))), float64(memory)/1e6), nil
}

// readAll reads everything, and returns how many documents a second that were and
// by how much the memory in use grew meanwhile.
func readAll(ctx context.Context, s store.Store, want int) (rate float64, memory uint64, err error) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	base := m.HeapInuse
	n := 0
	began := time.Now()
	for _, err := range s.Find(ctx, "events", store.Query{}) {
		if err != nil {
			return 0, 0, err
		}
		n++
	}
	took := time.Since(began)
	if n != want {
		return 0, 0, fmt.Errorf("found %d documents, want %d", n, want)
	}
	// Once more for the memory, apart from the clock.
	n = 0
	for _, err := range s.Find(ctx, "events", store.Query{}) {
		if err != nil {
			return 0, 0, err
		}
		if n++; n%50_000 == 0 {
			runtime.GC() // what is not garbage is what Find holds
			runtime.ReadMemStats(&m)
			memory = max(memory, m.HeapInuse-min(base, m.HeapInuse))
		}
	}
	return float64(want) / took.Seconds(), memory, nil
}
