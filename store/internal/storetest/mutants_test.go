package storetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
	"github.com/oidkit/oid/store/memstore"
)

// TestFaulty shows that a store without faults passes the suite, so a mutant fails because of its
// fault and not because of the hooks.
func TestFaulty(t *testing.T) {
	Run(t, func(*testing.T) store.Store { return newFaulty() }, nil)
}

// TestOneProcessor runs the concurrent tests on one processor, which runs their goroutines one
// after another.
func TestOneProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, c := range checks(Options{}) {
		if slices.Contains([]string{"ManyGoroutines", "SwapHistories"}, c.name) {
			t.Run(c.name, func(t *testing.T) { c.run(t, memstore.New()) })
		}
	}
}

// mutant is a fault in a store that one of the checks must notice.
type mutant struct {
	check  string // name of the check
	fault  string
	change func(f *faulty)
}

// mutants returns at least one mutant for each check.
func mutants() []mutant {
	all := []mutant{
		{"Insert", "generates ids of an hour ago", func(f *faulty) {
			f.asked = func(call string, doc any) any { return withID(call, doc, time.Hour) }
		}},
		{"InsertPutsIDInFront", "puts the _id at the end", func(f *faulty) {
			f.gives = func(_ string, doc bson.Raw) bson.Raw { d := fields(doc); return document(append(d[1:], d[0])) }
		}},
		{"InsertDuplicate", "replaces a document that is there", allowsDuplicates},
		{"NumbersAreEqualByValue", "takes 1 where 1.0 is", allowsDuplicates},
		{"InsertMany", "generates ids in falling order", func(f *faulty) {
			age := time.Duration(0)
			f.asked = func(call string, doc any) any { age += time.Second; return withID(call, doc, age) }
		}},
		{"InsertManyRefused", "stops at a refusal", inserts(true)},
		{"InsertManyOrdered", "goes on after a refusal", inserts(false)},
		{"InsertManyOrderedTaken", "goes on after a taken key", inserts(false)},
		{"Replace", "inserts what is not there", func(f *faulty) { f.Store = upserts{f.Store} }},
		{"Replace", "takes a document without an _id", hides("Replace", store.ErrKey)},
		{"Swap", "compares nothing", comparesNothing},
		{"SwapMany", "compares nothing", comparesNothing},
		{"SwapFirst", "compares only revisions", compares(func(now, old bson.Raw) bool {
			return now.Lookup(store.Revision).Equal(old.Lookup(store.Revision))
		})},
		{"SwapNoticesEveryWrite", "does not compare revisions", compares(func(now, old bson.Raw) bool {
			return now.Lookup("v").Equal(old.Lookup("v"))
		})},
		{"SwapRefuses", "takes nil for an empty document", func(f *faulty) {
			f.asked = func(_ string, doc any) any {
				if doc == nil {
					return bson.D{}
				}
				return doc
			}
		}},
		{"SwapManyOfMany", "returns documents without their revision", func(f *faulty) {
			f.gives = func(call string, doc bson.Raw) bson.Raw {
				if call != "SwapMany" {
					return doc
				}
				return document(slices.DeleteFunc(fields(doc), func(e bson.E) bool { return e.Key == store.Revision }))
			}
		}},
		{"SwapHistories", "lets others write between comparing and writing", compares(func(now, old bson.Raw) bool {
			defer runtime.Gosched()
			return bytes.Equal(now, old)
		})},
		{"Revision", "has the same revision each time", func(f *faulty) {
			f.gives = func(_ string, doc bson.Raw) bson.Raw {
				d := fields(doc)
				for i, e := range d {
					if _, ok := e.Value.(bson.ObjectID); ok && e.Key == store.Revision {
						d[i].Value = objectid.ID{7}
					}
				}
				return document(d)
			}
		}},
		{"Documents", "changes a byte", func(f *faulty) {
			f.gives = func(_ string, doc bson.Raw) bson.Raw { return bytes.ReplaceAll(doc, []byte{255}, []byte{254}) }
		}},
		{"LargestDocument", "takes documents that are too large", accepts(store.ErrDocument)},
		{"LargestDocument", "refuses documents of 15 MiB", func(f *faulty) {
			f.asked = func(_ string, doc any) any {
				if raw, ok := doc.(bson.Raw); ok && len(raw) > 15<<20 {
					return bson.Raw("refused")
				}
				return doc
			}
		}},
		{"InvalidDocuments", "takes what is not BSON", accepts(store.ErrDocument)},
		{"InvalidKeys", "takes an _id that is not a key", accepts(store.ErrKey)},
		{"KeyOrder", "orders keys as text", func(f *faulty) { f.Store = textOrder{f.Store} }},
		{"GetMany", "returns the document of a repeated key once", func(f *faulty) {
			given := map[string]bool{}
			f.gives = func(call string, doc bson.Raw) bson.Raw {
				if call == "GetMany" && given[string(doc)] {
					return nil
				}
				given[string(doc)] = true
				return doc
			}
		}},
		{"Find", "ignores After", queries("Find", func(q *store.Query) { q.After = store.Key{} })},
		{"Find", "ignores Limit", queries("Find", func(q *store.Query) { q.Limit = 0 })},
		{"Find", "ignores Descending", queries("Find", func(q *store.Query) { q.Descending = false })},
		{"FindOfMany", "ends after 4000 documents", queries("Find", func(q *store.Query) { q.Limit = min(q.Limit-1, 3999) + 1 })},
		{"FindInsideFind", "reads on by the number of documents read", func(f *faulty) { f.Store = findsByPlace{f.Store} }},
		{"FindByTime", "returns numbers for a range of ids without a lower bound", func(f *faulty) {
			f.query = func(_ string, q *store.Query) {
				if q.From == store.IDKey(objectid.ID{}) {
					q.From = store.Key{}
				}
			}
		}},
		{"Delete", "does not say that there was nothing", hides("Delete", store.ErrNotFound)},
		{"MissingCollection", "does not say that there was nothing", hides("Delete", store.ErrNotFound)},
		{"EmptiedCollection", "does not list empty collections", func(f *faulty) { f.Store = hidesEmpty{f.Store} }},
		{"ManyGoroutines", "refuses one document of fifty", func(f *faulty) {
			var n atomic.Int64
			f.asked = func(call string, doc any) any {
				if n.Add(1)%50 == 0 && call == "InsertMany" {
					return nil
				}
				return doc
			}
		}},
		{"GivenBytes", "changes what Insert is given", func(f *faulty) {
			f.asked = func(call string, doc any) any {
				raw, ok := doc.(bson.Raw)
				if !ok || call != "InsertMany" {
					return doc
				}
				defer clear(raw)
				return slices.Clone(raw)
			}
		}},
		{"GivenBytes", "keeps what Insert is given", keepsGiven("InsertMany")},
		{"GivenBytes", "keeps what Replace is given", keepsGiven("Replace")},
		{"GivenBytes", "keeps what Swap is given", keepsGiven("SwapMany")},
		{"ReturnedBytes", "returns documents one behind the other", func(f *faulty) {
			room := make(bson.Raw, 0, 1<<16)
			f.gives = func(_ string, doc bson.Raw) bson.Raw {
				room = append(room, doc...)
				return room[len(room)-len(doc):]
			}
		}},
		{"StateMachine", "deletes the upper bound too", queries("DeleteRange", includesTo)},
	}
	for _, call := range []string{"Get", "GetMany", "Find", "FindMany", "SwapMany"} {
		all = append(all, mutant{"ReturnedBytes", "returns its own bytes: " + call, givesOneCopy(call)})
	}
	for call, check := range map[string]string{"Find": "Find", "FindMany": "FindMany", "Count": "Find", "DeleteRange": "DeleteRange"} {
		all = append(all,
			mutant{check, "includes the upper bound: " + call, queries(call, includesTo)},
			mutant{check, "excludes the lower bound: " + call, queries(call, func(q *store.Query) { q.From = after(q.From) })})
	}
	for _, call := range []string{"InsertMany", "Replace", "SwapMany", "Get", "GetMany", "Find", "FindMany", "Count", "Delete", "DeleteRange", "Collections"} {
		all = append(all,
			mutant{"Cancelled", "does not look at its context: " + call, ignoresContext(call)},
			mutant{"Closed", "works after Close: " + call, begins(call, func(w *work) { w.Store = memstore.New() })})
		if call != "Collections" {
			all = append(all, mutant{"CollectionNames", "does not check the name: " + call, begins(call, func(w *work) {
				if store.CheckCollection(w.name) != nil {
					w.name = "c"
				}
			})})
		}
	}
	return all
}

// TestMutants runs each mutant with its check, which must fail. If it passes, an engine could
// have the same fault without failing the suite.
func TestMutants(t *testing.T) {
	testenv.WithoutRace(t)
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.shrinktime": "0s"} {
		before := flag.Lookup(name).Value.String()
		defer flag.Set(name, before)
		testenv.NoError(t, flag.Set(name, value))
	}
	all := mutants()
	for _, c := range checks(Options{}) {
		if !slices.ContainsFunc(all, func(m mutant) bool { return m.check == c.name }) {
			t.Errorf("no mutant shows that the check %s notices anything; add one to mutants", c.name)
		}
	}
	t.Run("each", func(t *testing.T) {
		for _, mutant := range all {
			t.Run(mutant.check+"/"+mutant.fault, func(t *testing.T) {
				t.Parallel()
				i := slices.IndexFunc(checks(Options{}), func(c check) bool { return c.name == mutant.check })
				if i < 0 {
					t.Fatalf("there is no check %s", mutant.check)
				}
				failures := testenv.Trial(t, func(t testing.TB) {
					f := newFaulty()
					mutant.change(f)
					checks(Options{})[i].run(t, f)
				})
				if len(failures) == 0 {
					t.Errorf("the check %s passes an engine that is wrong: it %s; make the check notice that", mutant.check, mutant.fault)
					return
				}
				t.Logf("%.300s", failures[0])
			})
		}
	})
}

// hides returns a fault: a call returns nil instead of an error that wraps target.
func hides(call string, target error) func(*faulty) {
	return func(f *faulty) {
		f.fails = func(c string, err error) error {
			if c == call && errors.Is(err, target) {
				return nil
			}
			return err
		}
	}
}

// begins returns a fault: change changes the store and the arguments of a call.
func begins(call string, change func(*work)) func(*faulty) {
	return func(f *faulty) {
		f.begin = func(c string, w *work) {
			if c == call {
				change(w)
			}
		}
	}
}

func ignoresContext(call string) func(*faulty) {
	return begins(call, func(w *work) { w.ctx = context.WithoutCancel(w.ctx) })
}

// accepts returns a fault: instead of documents that must be refused with target, an empty
// document is stored.
func accepts(target error) func(*faulty) {
	return func(f *faulty) {
		f.asked = func(_ string, doc any) any {
			if _, _, err := engine.Insertion(doc, nil); errors.Is(err, target) {
				return bson.D{}
			}
			return doc
		}
	}
}

// queries returns a change of what a call is asked to find.
func queries(call string, change func(q *store.Query)) func(*faulty) {
	return func(f *faulty) {
		f.query = func(c string, q *store.Query) {
			if c == call {
				change(q)
			}
		}
	}
}

func includesTo(q *store.Query) { q.To = after(q.To) }

// after returns the next greater key: no check uses a key between it and bound.
func after(bound store.Key) store.Key {
	switch v := bound.Value().(type) {
	case int64:
		return float(math.Nextafter(float64(v), math.Inf(1)))
	case float64:
		return float(math.Nextafter(v, math.Inf(1)))
	case string:
		return text(v + "\x00")
	case objectid.ID:
		v[objectid.Size-1]++
		return store.IDKey(v)
	}
	return bound // the zero Key has no next one
}

// keepsGiven returns a fault: a call keeps the caller's bytes instead of a copy, so that Get
// returns changes that the caller has made to them.
func keepsGiven(call string) func(*faulty) {
	return func(f *faulty) {
		type given struct{ raw, before bson.Raw }
		kept := map[store.Key]given{}
		f.asked = func(c string, doc any) any {
			if raw, ok := doc.(bson.Raw); ok && c == call {
				kept[keyOf(raw)] = given{raw, slices.Clone(raw)}
			}
			return doc
		}
		f.gives = func(c string, doc bson.Raw) bson.Raw {
			if k := kept[keyOf(doc)]; c == "Get" && !bytes.Equal(k.raw, k.before) {
				return slices.Clone(k.raw)
			}
			return doc
		}
	}
}

// givesOneCopy returns a fault: a call returns the same bytes of a document to all callers, so
// that each sees the changes of the others.
func givesOneCopy(call string) func(*faulty) {
	return func(f *faulty) {
		copies := map[string]bson.Raw{}
		f.gives = func(c string, doc bson.Raw) bson.Raw {
			content := string(doc)
			if copies[content] == nil {
				copies[content] = doc
			}
			if c == call {
				return copies[content]
			}
			return slices.Clone(copies[content])
		}
	}
}

// inserting is a store whose InsertMany always uses the options o.
type inserting struct {
	store.Store
	o *store.InsertOptions
}

// inserts returns a fault: InsertMany is always ordered, or never.
func inserts(ordered bool) func(*faulty) {
	return func(f *faulty) { f.Store = inserting{f.Store, &store.InsertOptions{Ordered: ordered}} }
}

func (s inserting) InsertMany(ctx context.Context, name string, docs []any, _ *store.InsertOptions) ([]store.Key, error) {
	return s.Store.InsertMany(ctx, name, docs, s.o)
}

type replacing struct{ store.Store }

func allowsDuplicates(f *faulty) { f.Store = replacing{f.Store} }

func (s replacing) InsertMany(ctx context.Context, name string, docs []any, o *store.InsertOptions) ([]store.Key, error) {
	for _, doc := range docs {
		_ = s.Delete(ctx, name, keyOf(document(doc)))
	}
	return s.Store.InsertMany(ctx, name, docs, o)
}

type upserts struct{ store.Store }

func (s upserts) Replace(ctx context.Context, name string, doc any) error {
	err := s.Store.Replace(ctx, name, doc)
	if errors.Is(err, store.ErrNotFound) {
		_, err = s.Insert(ctx, name, doc)
	}
	return err
}

// comparing is a store that swaps a document if same returns true for the stored document and the
// old one.
type comparing struct {
	store.Store
	same func(now, old bson.Raw) bool
}

func compares(same func(now, old bson.Raw) bool) func(*faulty) {
	return func(f *faulty) { f.Store = comparing{f.Store, same} }
}

func comparesNothing(f *faulty) { compares(func(_, _ bson.Raw) bool { return true })(f) }

func (s comparing) SwapMany(ctx context.Context, name string, swaps []store.Swap) ([]bson.Raw, error) {
	swaps = slices.Clone(swaps)
	for i, swap := range swaps {
		key := keyOf(swap.Old)
		if now, err := s.Get(ctx, name, key); err == nil && s.same(now, swap.Old) {
			if now, err = s.Get(ctx, name, key); err == nil {
				swaps[i].Old = now
			}
		}
	}
	return s.Store.SwapMany(ctx, name, swaps)
}

type textOrder struct{ store.Store }

func (s textOrder) Find(ctx context.Context, name string, q store.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		docs, err := first(math.MaxInt, s.Store.Find(ctx, name, q))
		slices.SortFunc(docs, func(a, b bson.Raw) int { return cmp.Compare(keyOf(a).String(), keyOf(b).String()) })
		for _, doc := range docs {
			if !yield(doc, err) {
				return
			}
		}
	}
}

// findsByPlace is a store whose Find runs its query again for the second, third and each later
// document, and so skips documents if earlier ones are deleted meanwhile.
type findsByPlace struct{ store.Store }

func (s findsByPlace) Find(ctx context.Context, name string, q store.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		for n := 1; ; n++ {
			docs, err := first(n, s.Store.Find(ctx, name, q))
			if len(docs) < n || !yield(docs[n-1], err) {
				return
			}
		}
	}
}

type hidesEmpty struct{ store.Store }

func (s hidesEmpty) Collections(ctx context.Context) ([]string, error) {
	names, err := s.Store.Collections(ctx)
	return slices.DeleteFunc(names, func(name string) bool {
		n, err := s.Count(ctx, name, store.Range{})
		return n == 0 && err == nil
	}), err
}

// keyOf returns the key of a document, or the zero Key.
func keyOf(doc bson.Raw) store.Key {
	key, _ := store.KeyOf(doc)
	return key
}

// withID returns doc with an id that is as old as ago, if call is InsertMany.
func withID(call string, doc any, ago time.Duration) any {
	if d, ok := doc.(bson.D); ok && call == "InsertMany" {
		return append(bson.D{{Key: "_id", Value: objectid.MinAt(time.Now().Add(-ago))}}, d...)
	}
	return doc
}

func fields(doc bson.Raw) (d bson.D) {
	if err := bson.Unmarshal(doc, &d); err != nil {
		panic(err)
	}
	return d
}

func document(doc any) bson.Raw {
	raw, err := bson.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return raw
}
