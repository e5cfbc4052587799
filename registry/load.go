package registry

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// load returns the process whose record has the key. The error wraps
// [store.ErrNotFound] if there is none.
func (r *Registry) load(ctx context.Context, key string) (*Process, error) {
	doc, err := get[record](ctx, r.store, processes, key)
	if err != nil {
		return nil, err
	}
	return r.current(ctx, &doc)
}

// current returns the process of a record as it is now: with what its living record
// says.
func (r *Registry) current(ctx context.Context, doc *record) (*Process, error) {
	if doc.Final {
		return doc.alone(), nil
	}
	_, l, err := r.living(ctx, livingKey(doc.Block, doc.Member))
	switch {
	case err == nil:
		l.over(&doc.Process)
	case !errors.Is(err, store.ErrNotFound):
		return nil, err
	default: // the process may have ended in between
		again, err := get[record](ctx, r.store, processes, doc.Key)
		return again.alone(), err
	}
	return &doc.Process, nil
}

// living reads the living record with a key.
func (r *Registry) living(ctx context.Context, k string) (bson.Raw, *living, error) {
	raw, err := r.store.Get(ctx, livingRecords, key(k))
	if err != nil {
		return nil, nil, fmt.Errorf("registry: read %s of %s: %w", k, livingRecords, err)
	}
	l, err := decode[living](raw, livingRecords)
	return raw, &l, err
}

// getRaw reads the documents with the keys, nil where there is none.
func getRaw(ctx context.Context, s store.Store, collection string, keys []string) ([]bson.Raw, error) {
	of := make([]store.Key, len(keys))
	for i, k := range keys {
		of[i] = key(k)
	}
	raws, err := s.GetMany(ctx, collection, of)
	if err != nil {
		return nil, fmt.Errorf("registry: read %s: %w", collection, err)
	}
	return raws, nil
}

// getMany is getRaw that also decodes the documents.
func getMany[T any](ctx context.Context, s store.Store, collection string, keys []string) ([]bson.Raw, []*T, error) {
	raws, err := getRaw(ctx, s, collection, keys)
	if err != nil {
		return nil, nil, err
	}
	docs := make([]*T, len(keys))
	for i, raw := range raws {
		if raw == nil {
			continue
		}
		doc, err := decode[T](raw, collection)
		if err != nil {
			return nil, nil, err
		}
		docs[i] = &doc
	}
	return raws, docs, nil
}

// findMany reads the documents in ranges. Of a range that has few documents or more,
// those after the first few take a call of their own.
func findMany(ctx context.Context, s store.Store, collection string, ranges []store.Range, few int) ([][]bson.Raw, error) {
	if len(ranges) == 0 {
		return nil, nil
	}
	found, err := s.FindMany(ctx, collection, ranges, few)
	var more []int
	for i, docs := range found {
		if len(docs) == few {
			more = append(more, i)
		}
	}
	if err == nil {
		err = each(len(more), func(i int) error {
			docs := &found[more[i]]
			last, err := store.KeyOf((*docs)[few-1])
			if err != nil {
				return err
			}
			for raw, err := range s.Find(ctx, collection, store.Query{Range: ranges[more[i]], After: last}) {
				if err != nil {
					return err
				}
				*docs = append(*docs, raw)
			}
			return nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("registry: read %s: %w", collection, err)
	}
	return found, nil
}

// currents is current for many records, in the place of which nil may be.
func (r *Registry) currents(ctx context.Context, docs []*record) ([]*Process, error) {
	keys := make([]string, len(docs))
	for i, doc := range docs {
		if doc != nil && !doc.Final {
			keys[i] = livingKey(doc.Block, doc.Member)
		}
	}
	_, livings, err := getMany[living](ctx, r.store, livingRecords, keys)
	if err != nil {
		return nil, err
	}
	found := make([]*Process, len(docs))
	for i, doc := range docs {
		switch {
		case doc == nil:
		case livings[i] != nil:
			livings[i].over(&doc.Process)
			found[i] = &doc.Process
		case doc.Final:
			found[i] = doc.alone()
		default:
			p, err := r.current(ctx, doc)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return nil, err
			}
			found[i] = p
		}
	}
	return found, nil
}

// atOnce is how many processes are judged or deleted at the same time.
const atOnce = 16

// each calls do for 0 to n-1, several at once, and returns one of the errors.
func each(n int, do func(i int) error) error {
	var wg sync.WaitGroup
	errs := make([]error, n)
	places := make(chan struct{}, atOnce)
	for i := range n {
		places <- struct{}{}
		wg.Go(func() {
			errs[i] = do(i)
			<-places
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
