package registry_test

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// maxUnasked is a store that notes what is asked of it.
type maxUnasked struct {
	store.Store
	mu      sync.Mutex
	queries []query
}

type query struct {
	collection string
	store.Query
}

func (a *maxUnasked) Find(ctx context.Context, c string, q store.Query) iter.Seq2[bson.Raw, error] {
	a.note(c, q)
	return a.Store.Find(ctx, c, q)
}

func (a *maxUnasked) FindMany(ctx context.Context, c string, ranges []store.Range, limit int) ([][]bson.Raw, error) {
	for _, r := range ranges {
		a.note(c, store.Query{Range: r, Limit: limit})
	}
	return a.Store.FindMany(ctx, c, ranges, limit)
}

func (a *maxUnasked) note(c string, q store.Query) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queries = append(a.queries, query{c, q})
}

// The history of one process among 10,000, and a trace, read the rows that they
// return and no others: each is a search of the primary key.
func TestHistoryIsAnIndexRange(t *testing.T) {
	file := filepath.Join(t.TempDir(), "registry.db")
	s := openStore(t, file)
	m := join(t, s, options{Addr: "127.0.0.1:8080", Interval: time.Hour, Random: strings.NewReader("none of those below")})
	n := 10_000
	if testenv.UnderRace {
		n = 2000
	}
	plant(t, s, m.Process(), n, 3)

	a := &maxUnasked{Store: s}
	r := registry.New(a, nil)
	before := all(t, r.History(t.Context(), m.Key(), time.Time{}, time.Time{}))
	if len(before) != 1 {
		t.Errorf("%d samples, want its own one", len(before))
	}
	if tr := trace(t, r, m.Generator().New()); tr.Verdict != registry.Known {
		t.Fatalf("trace: %+v", tr)
	}
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if len(a.queries) < 4 {
		t.Fatalf("asked %d times", len(a.queries))
	}
	for _, q := range a.queries {
		if n, err := s.Count(t.Context(), q.collection, q.Range); err != nil || n > 4 {
			t.Errorf("a range of %s holds %d documents, %v, want those of one process", q.collection, n, err)
		}
		if q.From.IsZero() || q.To.IsZero() {
			t.Errorf("a range of %s without bounds: %v", q.collection, q.Range)
		}
		rows, err := db.Query(fmt.Sprintf(`EXPLAIN QUERY PLAN SELECT doc FROM %q WHERE _id >= ? AND _id < ? ORDER BY _id`, q.collection), q.From.Value(), q.To.Value())
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(detail, "SEARCH") || !strings.Contains(detail, "PRIMARY KEY") {
				t.Errorf("%s: plan %q, want a search of the primary key", q.collection, detail)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		rows.Close()
	}
}

// plant records n processes that are like p, at 100 addresses, with some samples
// each.
func plant(t testing.TB, s store.Store, p registry.Process, n, samplesEach int) {
	t.Helper()
	var processes, living, values, samples []any
	for i := range n {
		q := p
		q.Block = fmt.Sprintf("%08x", i*7919+1)
		q.Value = q.Block
		q.GPID = gpid.MustParse(fmt.Sprintf("10.1.%d.7:8080:%d:4711", i%100, 1795166651598985+int64(i)))
		q.Kernel = gpid.Process{}
		processes = append(processes, registry.RecordOf(q))
		living = append(living, registry.LivingOf(q))
		values = append(values, bson.D{{Key: "_id", Value: q.Block}, {Key: "v", Value: 1}, {Key: "member", Value: q.Member}, {Key: "process", Value: registry.RecordOf(q).Key}})
		for k := range samplesEach {
			samples = append(samples, registry.SamplesOf(q.Block, registry.Sample{Time: p.From.Add(time.Duration(k) * time.Millisecond), Load: registry.Load{CPU: time.Duration(k)}}))
		}
	}
	for name, docs := range map[string][]any{"oid.processes": processes, "oid.living": living, "oid.values": values, "oid.samples": samples} {
		if _, err := s.InsertMany(t.Context(), name, docs, nil); err != nil {
			t.Fatal(err)
		}
	}
}
