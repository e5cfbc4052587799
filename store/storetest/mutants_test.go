package storetest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"iter"
	"runtime"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

func TestMemory(t *testing.T) {
	Run(t, func(*testing.T) store.Store { return newMemory() }, nil)
}

// A machine with one processor runs the goroutines of a test one after another.
func TestMemoryOnOneProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, c := range checks(Options{}) {
		if slices.Contains([]string{"WatchManyWriters", "ManyGoroutines", "SwapHistories"}, c.name) {
			t.Run(c.name, func(t *testing.T) { c.run(t, newMemory()) })
		}
	}
}

// mutant is a way to break the store in memory that a check of the suite must notice.
type mutant struct {
	check  string // its name
	fault  string
	change func(m *memory)
}

// mutants returns at least one mutant for each check.
func mutants() []mutant {
	all := []mutant{
		{"Insert", "generates ids of an hour ago", func(m *memory) {
			m.asked = func(call string, doc any) any { return withID(call, doc, time.Hour) }
		}},
		{"InsertPutsIDInFront", "puts the _id at the end", func(m *memory) {
			m.keeps = func(_ string, doc bson.Raw) bson.Raw { d := fields(doc); return document(append(d[1:], d[0])) }
		}},
		{"InsertDuplicate", "replaces a document that is there", allowsDuplicates},
		{"NumbersAreEqualByValue", "takes 1 beside 1.0", allowsDuplicates},
		{"InsertMany", "generates ids in falling order", func(m *memory) {
			age := time.Duration(0)
			m.asked = func(call string, doc any) any { age += time.Second; return withID(call, doc, age) }
		}},
		{"InsertManyRefused", "stops at a refusal", func(m *memory) { m.stops = func(bool) bool { return true } }},
		{"InsertManyOrdered", "goes on after a refusal", goesOn},
		{"InsertManyOrderedTaken", "goes on after a taken key", goesOn},
		{"Replace", "inserts what is not there", skips("Replace", store.ErrNotFound)},
		{"Replace", "takes a document without an _id", skips("Replace", store.ErrKey)},
		{"Swap", "compares nothing", comparesNothing},
		{"SwapMany", "compares nothing", comparesNothing},
		{"SwapFirst", "compares only revisions", func(m *memory) {
			m.changed = func(now, old bson.Raw) bool {
				return !now.Lookup(store.Revision).Equal(old.Lookup(store.Revision))
			}
		}},
		{"SwapNoticesEveryWrite", "does not compare revisions", func(m *memory) {
			m.changed = func(now, old bson.Raw) bool { return !now.Lookup("v").Equal(old.Lookup("v")) }
		}},
		{"SwapRefuses", "takes nil for an empty document", func(m *memory) {
			m.asked = func(_ string, doc any) any {
				if doc == nil {
					return bson.D{}
				}
				return doc
			}
		}},
		{"SwapManyOfMany", "returns documents without their revision", func(m *memory) {
			m.gives = func(call string, doc bson.Raw) bson.Raw {
				if call != "SwapMany" {
					return slices.Clone(doc)
				}
				return document(slices.DeleteFunc(fields(doc), func(e bson.E) bool { return e.Key == store.Revision }))
			}
		}},
		{"SwapHistories", "lets others write between comparing and writing", func(m *memory) {
			m.compared = func(m *memory) { m.mu.Unlock(); runtime.Gosched(); m.mu.Lock() }
		}},
		{"Revision", "writes the same revision each time", func(m *memory) {
			m.keeps = func(_ string, doc bson.Raw) bson.Raw {
				d := fields(doc)
				for i, e := range d {
					if _, ok := e.Value.(bson.ObjectID); ok && e.Key == store.Revision {
						d[i].Value = objectid.ID{7}
					}
				}
				return document(d)
			}
		}},
		{"Documents", "changes a byte", func(m *memory) {
			m.keeps = func(_ string, doc bson.Raw) bson.Raw { return bytes.ReplaceAll(doc, []byte{255}, []byte{254}) }
		}},
		{"LargestDocument", "takes documents that are too large", accepts(store.ErrDocument)},
		{"LargestDocument", "refuses documents of 15 MiB", func(m *memory) {
			m.asked = func(_ string, doc any) any {
				if raw, ok := doc.(bson.Raw); ok && len(raw) > 15<<20 {
					return bson.Raw("refused")
				}
				return doc
			}
		}},
		{"InvalidDocuments", "takes what is not BSON", accepts(store.ErrDocument)},
		{"InvalidKeys", "takes an _id that is not a key", accepts(store.ErrKey)},
		{"KeyOrder", "orders keys as text", func(m *memory) {
			m.compare = func(a, b store.Key) int { return bytes.Compare([]byte(a.String()), []byte(b.String())) }
		}},
		{"GetMany", "returns the document of a repeated key once", func(m *memory) {
			given := map[*byte]bool{}
			m.gives = func(call string, doc bson.Raw) bson.Raw {
				if call == "GetMany" && given[&doc[0]] {
					return nil
				}
				given[&doc[0]] = true
				return slices.Clone(doc)
			}
		}},
		{"Find", "ignores After", asks(func(q *store.Query) { q.After = store.Key{} })},
		{"Find", "ignores Limit", asks(func(q *store.Query) { q.Limit = 0 })},
		{"Find", "ignores Descending", asks(func(q *store.Query) { q.Descending = false })},
		{"FindOfMany", "ends after 4000 documents", asks(func(q *store.Query) { q.Limit = min(q.Limit-1, 3999) + 1 })},
		{"FindInsideFind", "reads on by the number of documents read", func(m *memory) { m.find = m.findByPlace }},
		{"FindByTime", "returns numbers for a range of ids without a lower bound", func(m *memory) {
			m.contains = func(_ string, r store.Range, key store.Key) bool {
				if r.From == store.ID(objectid.ID{}) {
					r.From = store.Key{}
				}
				return r.Contains(key)
			}
		}},
		{"Delete", "does not say that there was nothing", skips("Delete", store.ErrNotFound)},
		{"Drop", "does not say that there was nothing", skips("Drop", store.ErrNotFound)},
		{"MissingCollection", "does not say that there was nothing", skips("Drop", store.ErrNotFound)},
		{"Drop", "removes only the documents", func(m *memory) {
			m.drops = func(m *memory, name string) { m.collections[name] = m.of("") }
		}},
		{"Drop", "removes nothing", func(m *memory) { m.drops = func(*memory, string) {} }},
		{"EmptiedCollection", "does not list empty collections", func(m *memory) {
			m.lists = func(c *collection) bool { return len(c.keys) > 0 }
		}},
		{"ManyGoroutines", "refuses one document of fifty", func(m *memory) {
			n := 0
			m.taken = func(found bool) bool { n++; return found || n%50 == 0 }
		}},
		{"WatchBeginsWithWhatIsThere", "returns replaced documents again", renumbers("Replace")},
		{"WatchBeginsWithWhatIsThere", "returns swapped documents again", renumbers("SwapMany")},
		{"WatchBeginsWithWhatIsThere", "returns the last commit again", func(m *memory) {
			m.fresh = func(_ store.Key, commit, done int) bool { return commit >= done }
		}},
		{"WatchBeginsWithWhatIsThere", "does not end with its context", func(m *memory) {
			m.watch = func(ctx context.Context, name string, r store.Range) iter.Seq2[bson.Raw, error] {
				return m.follow(context.WithoutCancel(ctx), name, r, 0)
			}
		}},
		{"WatchLateSmallerKeys", "reads on from the greatest key", readsOnFromGreatest},
		{"WatchManyWriters", "reads on from the greatest key", readsOnFromGreatest},
		{"WatchReinsertion", "ignores a document that is inserted again", func(m *memory) {
			seen := map[store.Key]bool{}
			m.fresh = func(key store.Key, commit, done int) bool {
				known := seen[key]
				seen[key] = true
				return commit > done && !known
			}
		}},
		{"WatchWhileReading", "repeats what came between the first reading and the stream", readsThenFollows(true)},
		{"WatchWhileReading", "misses what came between the first reading and the stream", readsThenFollows(false)},
		{"WatchEndsWithClose", "does not end Watch with Close", func(m *memory) {
			m.ends = func(*memory) error { return nil }
		}},
		{"WatchEndsWithClose", "ends Watch with another error", func(m *memory) {
			end := m.ends
			m.ends = func(m *memory) error {
				if end(m) != nil {
					return errors.New("it is over")
				}
				return nil
			}
		}},
		{"GivenBytes", "changes what Insert is given", func(m *memory) {
			m.keeps = func(_ string, doc bson.Raw) bson.Raw { defer clear(doc); return slices.Clone(doc) }
		}},
		{"GivenBytes", "keeps what Insert is given", keepsGiven("InsertMany")},
		{"GivenBytes", "keeps what Replace is given", keepsGiven("Replace")},
		{"ReturnedBytes", "returns documents one behind the other", func(m *memory) {
			room := make(bson.Raw, 0, 1<<16)
			m.gives = func(_ string, doc bson.Raw) bson.Raw {
				room = append(room, doc...)
				return room[len(room)-len(doc):]
			}
		}},
		{"ReturnedBytes", "returns one slice for a repeated key", givesOneCopy("GetMany")},
		{"WatchedBytes", "gives all watchers one copy", givesOneCopy("Watch")},
		{"StateMachine", "deletes the upper bound too", contains("DeleteRange", includesTo)},
	}
	for _, call := range []string{"Get", "GetMany", "Find", "FindMany", "SwapMany", "Watch"} {
		all = append(all, mutant{"ReturnedBytes", "returns its own bytes: " + call, func(m *memory) {
			m.gives = func(c string, doc bson.Raw) bson.Raw {
				if c == call {
					return doc
				}
				return slices.Clone(doc)
			}
		}})
	}
	for call, check := range map[string]string{"Find": "Find", "FindMany": "FindMany", "Count": "Find", "DeleteRange": "DeleteRange", "Watch": "WatchRange"} {
		all = append(all,
			mutant{check, "includes the upper bound: " + call, contains(call, includesTo)},
			mutant{check, "excludes the lower bound: " + call, contains(call, func(r store.Range, key store.Key) bool { return key != r.From && r.Contains(key) })})
	}
	for _, call := range []string{"InsertMany", "Replace", "SwapMany", "Get", "GetMany", "Find", "FindMany", "Count", "Delete", "DeleteRange", "Drop", "Watch", "Collections"} {
		all = append(all,
			mutant{"Cancelled", "does not look at its context: " + call, skips(call, context.Canceled)},
			mutant{"Closed", "works after Close: " + call, func(m *memory) {
				skips(call, store.ErrClosed)(m)
				m.ends = func(*memory) error { return nil }
			}})
		if call != "Collections" {
			all = append(all, mutant{"CollectionNames", "does not check the name: " + call, skips(call, store.ErrCollection)})
		}
	}
	return all
}

// TestMutants breaks the store in memory in every way that mutants lists. A mutant that
// survives shows what an engine may break without failing the suite.
func TestMutants(t *testing.T) {
	testenv.WithoutRace(t)
	defer func(d time.Duration) { limit = d }(limit)
	limit = 200 * time.Millisecond // a mutant that does not answer is broken enough
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.shrinktime": "0s"} {
		before := flag.Lookup(name).Value.String()
		defer flag.Set(name, before)
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
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
					m := newMemory()
					mutant.change(m)
					checks(Options{})[i].run(t, m)
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

// skips returns a change: a call goes on in spite of one of the errors that end it.
func skips(call string, target error) func(*memory) {
	return func(m *memory) {
		m.refuses = func(c string, err error) bool {
			return err != nil && (c != call || !errors.Is(err, target))
		}
	}
}

// accepts returns a change: documents that are to be refused with an error are stored.
func accepts(target error) func(*memory) {
	return func(m *memory) {
		m.asked = func(_ string, doc any) any {
			if _, _, err := engine.Insertion(doc, nil); errors.Is(err, target) {
				return bson.D{}
			}
			return doc
		}
	}
}

func asks(change func(q *store.Query)) func(*memory) {
	return func(m *memory) {
		m.query = func(_ string, q store.Query) store.Query { change(&q); return q }
	}
}

func contains(call string, inside func(r store.Range, key store.Key) bool) func(*memory) {
	return func(m *memory) {
		m.contains = func(c string, r store.Range, key store.Key) bool {
			if c == call {
				return inside(r, key)
			}
			return r.Contains(key)
		}
	}
}

func includesTo(r store.Range, key store.Key) bool {
	return r.Contains(key) || key == r.To && key.Compare(r.From) >= 0
}

func allowsDuplicates(m *memory) { m.taken = func(bool) bool { return false } }
func goesOn(m *memory)           { m.stops = func(bool) bool { return false } }
func comparesNothing(m *memory)  { m.changed = func(_, _ bson.Raw) bool { return false } }

func renumbers(call string) func(*memory) {
	return func(m *memory) {
		m.commit = func(c string, m *memory, old int) int {
			if c == call {
				m.commits++
				return m.commits
			}
			return old
		}
	}
}

func keepsGiven(call string) func(*memory) {
	return func(m *memory) {
		m.keeps = func(c string, doc bson.Raw) bson.Raw {
			if c == call {
				return doc
			}
			return slices.Clone(doc)
		}
	}
}

// givesOneCopy returns a change: a call copies each document once for all who ask.
func givesOneCopy(call string) func(*memory) {
	return func(m *memory) {
		copies := map[*byte]bson.Raw{}
		m.gives = func(c string, doc bson.Raw) bson.Raw {
			if c != call {
				return slices.Clone(doc)
			}
			if copies[&doc[0]] == nil {
				copies[&doc[0]] = slices.Clone(doc)
			}
			return copies[&doc[0]]
		}
	}
}

func readsOnFromGreatest(m *memory) {
	var greatest store.Key
	m.fresh = func(key store.Key, commit, done int) bool {
		if commit <= done || key.Compare(greatest) <= 0 {
			return false
		}
		greatest = key
		return true
	}
}

// readsThenFollows returns a change: Watch does what Find does and then follows the commits
// since Find began, if repeat, or since it ended.
func readsThenFollows(repeat bool) func(*memory) {
	return func(m *memory) {
		m.watch = func(ctx context.Context, name string, r store.Range) iter.Seq2[bson.Raw, error] {
			return func(yield func(bson.Raw, error) bool) {
				number := func() int { m.mu.Lock(); defer m.mu.Unlock(); return m.commits }
				done := number()
				for doc, err := range m.each(ctx, "Watch", name, store.Query{Range: r}) {
					if !yield(doc, err) {
						return
					}
				}
				if !repeat {
					done = number()
				}
				m.follow(ctx, name, r, done)(yield)
			}
		}
	}
}

// findByPlace returns the first document of q, then the second of those that are there
// then, and so on.
func (m *memory) findByPlace(ctx context.Context, call, name string, q store.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		for n := 0; ; n++ {
			i := 0
			for doc, err := range m.each(ctx, call, name, q) {
				if i++; i > n {
					if !yield(doc, err) {
						return
					}
					break
				}
			}
			if i <= n {
				return
			}
		}
	}
}

// withID returns a document that InsertMany is given with an id of so long ago.
func withID(call string, doc any, ago time.Duration) any {
	if d, ok := doc.(bson.D); ok && call == "InsertMany" {
		return append(bson.D{{Key: "_id", Value: objectid.At(time.Now().Add(-ago))}}, d...)
	}
	return doc
}

func fields(doc bson.Raw) (d bson.D) {
	if err := bson.Unmarshal(doc, &d); err != nil {
		panic(err)
	}
	return d
}

func document(d bson.D) bson.Raw {
	raw, err := bson.Marshal(d)
	if err != nil {
		panic(err)
	}
	return raw
}
