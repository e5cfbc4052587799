package storetest

import (
	"context"
	"iter"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
	"github.com/oidkit/oid/store/memstore"
)

// faulty is a memstore with hooks in its calls. With the hooks of newFaulty it behaves as every
// store must. A mutant replaces some of the hooks, or wraps Store.
type faulty struct {
	store.Store
	hooks
}

// hooks are functions that change how a store behaves. The argument call is the name of the
// method, but Insert and Swap use the names InsertMany and SwapMany.
type hooks struct {
	begin func(call string, w *work)               // changes what a call works with
	asked func(call string, doc any) any           // changes a document to be written
	query func(call string, q *store.Query)        // what a call is to find; calls other than Find use its Range
	gives func(call string, doc bson.Raw) bson.Raw // changes a document to be returned
	fails func(call string, err error) error       // changes an error, which is not nil
}

// work holds the store and the arguments of a call.
type work struct {
	store.Store
	ctx  context.Context
	name string // of the collection
}

// newFaulty returns a store without faults.
func newFaulty() *faulty {
	f := &faulty{Store: memstore.New()}
	f.hooks = hooks{
		begin: func(string, *work) {},
		asked: func(_ string, doc any) any { return doc },
		query: func(string, *store.Query) {},
		gives: func(_ string, doc bson.Raw) bson.Raw { return doc },
		fails: func(_ string, err error) error { return err },
	}
	return f
}

func (f *faulty) with(call string, ctx context.Context, name string) (store.Store, context.Context, string) {
	w := work{f.Store, ctx, name}
	f.begin(call, &w)
	return w.Store, w.ctx, w.name
}

// failed returns err as the hook changes it.
func (f *faulty) failed(call string, err error) error {
	if err != nil {
		err = f.fails(call, err)
	}
	return err
}

// given returns docs as the hook changes them; nil stays nil.
func (f *faulty) given(call string, docs []bson.Raw) []bson.Raw {
	for i, doc := range docs {
		if doc != nil {
			docs[i] = f.gives(call, doc)
		}
	}
	return docs
}

// sequence returns seq with documents and errors as the hooks change them.
func (f *faulty) sequence(call string, seq iter.Seq2[bson.Raw, error]) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		for doc, err := range seq {
			if err == nil {
				doc = f.gives(call, doc)
			} else if err = f.fails(call, err); err == nil {
				return
			}
			if !yield(doc, err) {
				return
			}
		}
	}
}

// span returns the range that a call works with.
func (f *faulty) span(call string, r store.Range) store.Range {
	q := store.Query{Range: r}
	f.query(call, &q)
	return q.Range
}

func (f *faulty) Insert(ctx context.Context, name string, doc any) (store.Key, error) {
	return engine.One(f.InsertMany(ctx, name, []any{doc}, nil))
}

func (f *faulty) InsertMany(ctx context.Context, name string, docs []any, o *store.InsertOptions) ([]store.Key, error) {
	docs = slices.Clone(docs)
	for i, doc := range docs {
		docs[i] = f.asked("InsertMany", doc)
	}
	s, ctx, name := f.with("InsertMany", ctx, name)
	keys, err := s.InsertMany(ctx, name, docs, o)
	return keys, f.failed("InsertMany", err)
}

func (f *faulty) Replace(ctx context.Context, name string, doc any) error {
	s, ctx, name := f.with("Replace", ctx, name)
	return f.failed("Replace", s.Replace(ctx, name, f.asked("Replace", doc)))
}

func (f *faulty) Swap(ctx context.Context, name string, old bson.Raw, new any) (bson.Raw, error) {
	if new = f.asked("Swap", new); new == nil { // SwapMany would delete
		_, _, err := engine.Insertion(new, nil)
		return nil, err
	}
	return engine.One(f.SwapMany(ctx, name, []store.Swap{{Old: old, New: new}}))
}

func (f *faulty) SwapMany(ctx context.Context, name string, swaps []store.Swap) ([]bson.Raw, error) {
	swaps = slices.Clone(swaps)
	for i, swap := range swaps {
		if swap.New != nil { // nil deletes
			swaps[i].New = f.asked("SwapMany", swap.New)
		}
	}
	s, ctx, name := f.with("SwapMany", ctx, name)
	docs, err := s.SwapMany(ctx, name, swaps)
	return f.given("SwapMany", docs), f.failed("SwapMany", err)
}

func (f *faulty) Get(ctx context.Context, name string, key store.Key) (bson.Raw, error) {
	s, ctx, name := f.with("Get", ctx, name)
	doc, err := s.Get(ctx, name, key)
	return f.given("Get", []bson.Raw{doc})[0], f.failed("Get", err)
}

func (f *faulty) GetMany(ctx context.Context, name string, keys []store.Key) ([]bson.Raw, error) {
	s, ctx, name := f.with("GetMany", ctx, name)
	docs, err := s.GetMany(ctx, name, keys)
	return f.given("GetMany", docs), f.failed("GetMany", err)
}

func (f *faulty) Find(ctx context.Context, name string, q store.Query) iter.Seq2[bson.Raw, error] {
	s, ctx, name := f.with("Find", ctx, name)
	f.query("Find", &q)
	return f.sequence("Find", s.Find(ctx, name, q))
}

func (f *faulty) FindMany(ctx context.Context, name string, ranges []store.Range, limit int) ([][]bson.Raw, error) {
	s, ctx, name := f.with("FindMany", ctx, name)
	ranges = slices.Clone(ranges)
	for i, r := range ranges {
		ranges[i] = f.span("FindMany", r)
	}
	docs, err := s.FindMany(ctx, name, ranges, limit)
	for _, some := range docs {
		f.given("FindMany", some)
	}
	return docs, f.failed("FindMany", err)
}

func (f *faulty) Count(ctx context.Context, name string, r store.Range) (int64, error) {
	s, ctx, name := f.with("Count", ctx, name)
	n, err := s.Count(ctx, name, f.span("Count", r))
	return n, f.failed("Count", err)
}

func (f *faulty) Delete(ctx context.Context, name string, key store.Key) error {
	s, ctx, name := f.with("Delete", ctx, name)
	return f.failed("Delete", s.Delete(ctx, name, key))
}

func (f *faulty) DeleteRange(ctx context.Context, name string, r store.Range) (int64, error) {
	s, ctx, name := f.with("DeleteRange", ctx, name)
	n, err := s.DeleteRange(ctx, name, f.span("DeleteRange", r))
	return n, f.failed("DeleteRange", err)
}

func (f *faulty) Collections(ctx context.Context) ([]string, error) {
	s, ctx, _ := f.with("Collections", ctx, "")
	names, err := s.Collections(ctx)
	return names, f.failed("Collections", err)
}
