package main

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// metered is a store that is away for a time, and counts what is written.
type metered struct {
	store.Store
	away               atomic.Bool
	calls, docs, bytes atomic.Int64
}

// weighed is of how many documents one is weighed.
const weighed = 32

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
		if m.docs.Add(1)%weighed == 0 {
			raw, _ := bson.Marshal(doc)
			m.bytes.Add(int64(len(raw)) * weighed)
		}
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

func (m *metered) FindMany(ctx context.Context, c string, ranges []store.Range, limit int) ([][]bson.Raw, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	return m.Store.FindMany(ctx, c, ranges, limit)
}

func (m *metered) Find(ctx context.Context, c string, q store.Query) iter.Seq2[bson.Raw, error] {
	if err := m.check(); err != nil {
		return func(yield func(bson.Raw, error) bool) { yield(nil, err) }
	}
	return m.Store.Find(ctx, c, q)
}
