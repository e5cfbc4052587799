package storetest

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

// memory is a store in memory. It keeps the contract if its hooks are those of newMemory;
// each mutant replaces some of them.
type memory struct {
	hooks

	mu          sync.Mutex
	closed      bool
	collections map[string]*collection
	commits     int           // how many calls have inserted something
	news        chan struct{} // closed, and replaced, at each commit and at Close
}

type collection struct {
	keys []store.Key // in the order of compare
	rows map[store.Key]row
}

type row struct {
	doc    bson.Raw
	commit int // the number of the call that inserted it
}

// hooks are decisions of the engine. call is the name of the method that asks; Insert,
// Swap, DeleteIf and Replace ask as the methods that they are made of as well.
type hooks struct {
	refuses  func(call string, err error) bool // whether err ends the call; it may be nil
	asked    func(call string, doc any) any    // a document to write, as the caller gives it
	query    func(call string, q store.Query) store.Query
	keeps    func(call string, doc bson.Raw) bson.Raw // what is stored for a document
	gives    func(call string, doc bson.Raw) bson.Raw // what the caller gets of what is stored
	compare  func(a, b store.Key) int
	contains func(call string, r store.Range, key store.Key) bool
	taken    func(found bool) bool                     // whether a key cannot be inserted
	stops    func(ordered bool) bool                   // whether a refusal ends InsertMany
	changed  func(now, old bson.Raw) bool              // whether a swap of old is refused
	compared func(m *memory)                           // called between comparing and writing of a swap, with mu held
	commit   func(call string, m *memory, old int) int // the commit of a document that replaces one of commit old
	lists    func(c *collection) bool                  // whether Collections returns it
	drops    func(m *memory, name string)              // removes a collection that exists, with mu held
	find     func(ctx context.Context, call, name string, q store.Query) iter.Seq2[bson.Raw, error]
	watch    func(ctx context.Context, name string, r store.Range) iter.Seq2[bson.Raw, error]
	fresh    func(key store.Key, commit, done int) bool // whether a watcher that has seen the commits up to done wants it
	ends     func(m *memory) error                      // the error that ends Watch, or nil
}

// newMemory returns a store that keeps the contract.
func newMemory() *memory {
	m := &memory{collections: map[string]*collection{}, news: make(chan struct{})}
	m.hooks = hooks{
		refuses:  func(_ string, err error) bool { return err != nil },
		asked:    func(_ string, doc any) any { return doc },
		query:    func(_ string, q store.Query) store.Query { return q },
		keeps:    func(_ string, doc bson.Raw) bson.Raw { return slices.Clone(doc) },
		gives:    func(_ string, doc bson.Raw) bson.Raw { return slices.Clone(doc) },
		compare:  store.Key.Compare,
		contains: func(_ string, r store.Range, key store.Key) bool { return r.Contains(key) },
		taken:    func(found bool) bool { return found },
		stops:    func(ordered bool) bool { return ordered },
		changed:  func(now, old bson.Raw) bool { return !bytes.Equal(now, old) },
		compared: func(*memory) {},
		commit:   func(_ string, _ *memory, old int) int { return old },
		lists:    func(*collection) bool { return true },
		drops:    func(m *memory, name string) { delete(m.collections, name) },
		find:     m.each,
		watch: func(ctx context.Context, name string, r store.Range) iter.Seq2[bson.Raw, error] {
			return m.follow(ctx, name, r, 0)
		},
		fresh: func(_ store.Key, commit, done int) bool { return commit > done },
		ends: func(m *memory) error {
			if m.closed {
				return store.ErrClosed
			}
			return nil
		},
	}
	return m
}

// begin locks m for a call, or returns the error that every call may return. A call
// without a collection has the name "-".
func (m *memory) begin(ctx context.Context, call, name string) error {
	m.mu.Lock()
	errs := []error{context.Cause(ctx), store.CheckCollection(name)}
	if m.closed {
		errs = append(errs, store.ErrClosed)
	}
	for _, err := range errs {
		if m.refuses(call, err) {
			m.mu.Unlock()
			return err
		}
	}
	return nil
}

// of returns the collection of a name; one that does not exist is empty.
func (m *memory) of(name string) *collection {
	if c := m.collections[name]; c != nil {
		return c
	}
	return &collection{rows: map[store.Key]row{}}
}

// put stores a document, new or not, in a collection that it creates.
func (m *memory) put(name string, key store.Key, r row) {
	c := m.of(name)
	m.collections[name] = c
	if i, found := slices.BinarySearchFunc(c.keys, key, m.compare); !found {
		c.keys = slices.Insert(c.keys, i, key)
	}
	c.rows[key] = r
}

func (m *memory) remove(c *collection, key store.Key) {
	c.keys = slices.DeleteFunc(c.keys, func(k store.Key) bool { return k == key })
	delete(c.rows, key)
}

// announce wakes the watchers.
func (m *memory) announce() {
	close(m.news)
	m.news = make(chan struct{})
}

func (m *memory) Insert(ctx context.Context, name string, doc any) (store.Key, error) {
	return engine.Insert(ctx, m, name, m.asked("Insert", doc))
}

func (m *memory) InsertMany(ctx context.Context, name string, docs []any, o *store.InsertOptions) ([]store.Key, error) {
	docs = slices.Clone(docs)
	for i, doc := range docs {
		docs[i] = m.asked("InsertMany", doc)
	}
	if err := m.begin(ctx, "InsertMany", name); err != nil {
		return make([]store.Key, len(docs)), err
	}
	defer m.mu.Unlock()
	ordered := o != nil && o.Ordered
	return engine.InsertMany(docs, o, func(rows []engine.Row) (refused []store.Refusal, err error) {
		m.commits++
		defer m.announce()
		for _, r := range rows {
			if _, found := m.of(name).rows[r.Key]; m.taken(found) {
				if refused = append(refused, store.Refusal{Index: r.Index, Err: engine.Duplicate(r.Key)}); m.stops(ordered) {
					break
				}
				continue
			}
			m.put(name, r.Key, row{m.keeps("InsertMany", r.Doc), m.commits})
		}
		return refused, nil
	})
}

func (m *memory) Replace(ctx context.Context, name string, doc any) error {
	key, raw, err := engine.Replacement(m.asked("Replace", doc))
	if begun := m.begin(ctx, "Replace", name); begun != nil {
		return begun
	}
	defer m.mu.Unlock()
	if m.refuses("Replace", err) {
		return err
	}
	old, found := m.of(name).rows[key]
	if err := engine.NotFound(key); !found && m.refuses("Replace", err) {
		return err
	}
	m.put(name, key, row{m.keeps("Replace", raw), m.commit("Replace", m, old.commit)})
	m.announce()
	return nil
}

func (m *memory) Swap(ctx context.Context, name string, old bson.Raw, new any) (bson.Raw, error) {
	return engine.Swap(ctx, m, name, old, m.asked("Swap", new))
}

func (m *memory) DeleteIf(ctx context.Context, name string, old bson.Raw) error {
	return engine.DeleteIf(ctx, m, name, old)
}

func (m *memory) SwapMany(ctx context.Context, name string, swaps []store.Swap) ([]bson.Raw, error) {
	if err := m.begin(ctx, "SwapMany", name); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	docs, err := engine.SwapMany(swaps, func(changes []engine.Change) (refused []store.Refusal, err error) {
		for _, c := range changes {
			now, found := m.of(name).rows[c.Key]
			if !found || m.changed(now.doc, c.Old) {
				refused = append(refused, store.Refusal{Index: c.Index, Err: engine.Unchanged(c.Key, found)})
				continue
			}
			if m.compared(m); c.New == nil {
				m.remove(m.of(name), c.Key)
			} else {
				m.put(name, c.Key, row{m.keeps("SwapMany", c.New), m.commit("SwapMany", m, now.commit)})
			}
		}
		m.announce()
		return refused, nil
	})
	for i, doc := range docs {
		if key, err := store.KeyOf(doc); err == nil && swaps[i].New != nil {
			docs[i] = m.gives("SwapMany", m.of(name).rows[key].doc)
		}
	}
	return docs, err
}

func (m *memory) Get(ctx context.Context, name string, key store.Key) (bson.Raw, error) {
	if err := m.begin(ctx, "Get", name); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	if r, found := m.of(name).rows[key]; found {
		return m.gives("Get", r.doc), nil
	}
	return nil, engine.NotFound(key)
}

func (m *memory) GetMany(ctx context.Context, name string, keys []store.Key) ([]bson.Raw, error) {
	if err := m.begin(ctx, "GetMany", name); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	docs := make([]bson.Raw, len(keys))
	for i, key := range keys {
		if r, found := m.of(name).rows[key]; found {
			docs[i] = m.gives("GetMany", r.doc)
		}
	}
	return docs, nil
}

func (m *memory) Find(ctx context.Context, name string, q store.Query) iter.Seq2[bson.Raw, error] {
	return m.find(ctx, "Find", name, q)
}

// each looks for the next document when the caller asks for it.
func (m *memory) each(ctx context.Context, call, name string, q store.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		q := m.query(call, q)
		for n := 0; q.Limit == 0 || n < q.Limit; n++ {
			if err := m.begin(ctx, call, name); err != nil {
				yield(nil, err)
				return
			}
			key := m.next(call, m.of(name), q)
			doc := m.gives(call, m.of(name).rows[key].doc)
			m.mu.Unlock()
			if q.After = key; key.IsZero() || !yield(doc, nil) {
				return
			}
		}
	}
}

// next returns the first key that q selects, or the zero Key.
func (m *memory) next(call string, c *collection, q store.Query) store.Key {
	i, found := len(c.keys), false
	if !q.After.IsZero() {
		i, found = slices.BinarySearchFunc(c.keys, q.After, m.compare)
	}
	rest := slices.Backward(c.keys[:i])
	if !q.Descending {
		switch {
		case q.After.IsZero():
			i = 0
		case found:
			i++
		}
		rest = slices.All(c.keys[i:])
	}
	for _, key := range rest {
		if m.contains(call, q.Range, key) {
			return key
		}
	}
	return store.Key{}
}

func (m *memory) FindMany(ctx context.Context, name string, ranges []store.Range, limit int) ([][]bson.Raw, error) {
	docs := make([][]bson.Raw, len(ranges))
	if err := m.begin(ctx, "FindMany", name); err != nil {
		return nil, err
	}
	m.mu.Unlock()
	for i, r := range ranges {
		for doc, err := range m.each(ctx, "FindMany", name, store.Query{Range: r, Limit: limit}) {
			if err != nil {
				return nil, err
			}
			docs[i] = append(docs[i], doc)
		}
	}
	return docs, nil
}

func (m *memory) Count(ctx context.Context, name string, r store.Range) (n int64, err error) {
	if err := m.begin(ctx, "Count", name); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	for _, key := range m.of(name).keys {
		if m.contains("Count", r, key) {
			n++
		}
	}
	return n, nil
}

func (m *memory) Delete(ctx context.Context, name string, key store.Key) error {
	if err := m.begin(ctx, "Delete", name); err != nil {
		return err
	}
	defer m.mu.Unlock()
	c := m.of(name)
	if _, found := c.rows[key]; !found && m.refuses("Delete", engine.NotFound(key)) {
		return engine.NotFound(key)
	}
	m.remove(c, key)
	return nil
}

func (m *memory) DeleteRange(ctx context.Context, name string, r store.Range) (n int64, err error) {
	if err := m.begin(ctx, "DeleteRange", name); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	c := m.of(name)
	c.keys = slices.DeleteFunc(c.keys, func(key store.Key) bool {
		gone := m.contains("DeleteRange", r, key)
		if gone {
			delete(c.rows, key)
			n++
		}
		return gone
	})
	return n, nil
}

func (m *memory) Collections(ctx context.Context) (names []string, err error) {
	if err := m.begin(ctx, "Collections", "-"); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(m.collections)) {
		if m.lists(m.collections[name]) {
			names = append(names, name)
		}
	}
	return names, nil
}

func (m *memory) Drop(ctx context.Context, name string) error {
	if err := m.begin(ctx, "Drop", name); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if err := engine.NoCollection(name); m.collections[name] == nil && m.refuses("Drop", err) {
		return err
	}
	m.drops(m, name)
	return nil
}

func (m *memory) Watch(ctx context.Context, name string, r store.Range) iter.Seq2[bson.Raw, error] {
	return m.watch(ctx, name, r)
}

// follow returns the documents of the commits after the one numbered done.
func (m *memory) follow(ctx context.Context, name string, r store.Range, done int) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		if err := m.begin(ctx, "Watch", name); err != nil {
			yield(nil, err)
			return
		}
		for {
			var found []row // mu is held here
			for _, key := range m.of(name).keys {
				if row := m.of(name).rows[key]; m.contains("Watch", r, key) && m.fresh(key, row.commit, done) {
					found = append(found, row)
				}
			}
			slices.SortStableFunc(found, func(a, b row) int { return cmp.Compare(a.commit, b.commit) })
			err, news := m.ends(m), m.news
			done = m.commits
			m.mu.Unlock()
			for _, row := range found {
				if !yield(m.gives("Watch", row.doc), nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			select {
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))
				return
			case <-news:
			}
			m.mu.Lock()
		}
	}
}

func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.announce()
	return nil
}
