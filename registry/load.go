package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"

	"github.com/oidkit/oid/store"
)

// load returns the process whose record has the key, with what its living record says.
// The error wraps [store.ErrNotFound] if there is none.
func (r *Registry) load(ctx context.Context, key string) (*Process, error) {
	for again := false; ; again = true {
		doc, err := getDoc[record](ctx, r.store, processRecords, key)
		if err != nil || doc.Final || again {
			return doc.alone(), err
		}
		_, l, err := r.living(ctx, livingKey(doc.Block, doc.Member))
		if err == nil {
			l.over(&doc.Process)
			return &doc.Process, nil
		}
		if !errors.Is(err, store.ErrNotFound) { // otherwise the process may have ended in between
			return nil, err
		}
	}
}

// living reads the living record with a key.
func (r *Registry) living(ctx context.Context, k string) (bson.Raw, *living, error) {
	raw, err := r.store.Get(ctx, livingRecords, storeKey(k))
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
		of[i] = storeKey(k)
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
	docs, err := decodeAll[T](raws, collection)
	return raws, docs, err
}

// decodeAll decodes documents, in the place of which nil may be.
func decodeAll[T any](raws []bson.Raw, collection string) (docs []*T, err error) {
	docs = make([]*T, len(raws))
	for i, raw := range raws {
		if raw == nil {
			continue
		}
		docs[i] = new(T)
		if *docs[i], err = decode[T](raw, collection); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// findMany reads and decodes the documents in ranges. Of a range that has few documents or
// more, those after the first few take a call of their own.
func findMany[T any](ctx context.Context, s store.Store, collection string, ranges []store.Range, few int) ([][]*T, error) {
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
		err = inParallel(len(more), func(i int) error {
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
	docs := make([][]*T, len(found))
	for i, raws := range found {
		if docs[i], err = decodeAll[T](raws, collection); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// currents returns the processes of records, in the place of which nil may be, as they are
// now: with what their living records say.
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
			p, err := r.load(ctx, doc.Key)
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

// inParallel calls do for 0 to n-1, several at once, and returns one of the errors.
func inParallel(n int, do func(i int) error) error {
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i := range n {
		g.Go(func() error { return do(i) })
	}
	return g.Wait()
}

// silent is a living process whose heartbeat is late.
type silent struct {
	raw bson.Raw
	l   *living

	stored bson.Raw // the record, or nil
	record *record  // with what the living record says
}

// key returns the key of the record.
func (f *silent) key() string { return processKey(f.l.gpid, f.l.block()) }

// readRecords reads the records of processes.
func (r *Registry) readRecords(ctx context.Context, all []silent) error {
	keys := make([]string, len(all))
	for i := range all {
		keys[i] = all[i].key()
	}
	raws, docs, err := getMany[record](ctx, r.store, processRecords, keys)
	for i, doc := range docs {
		if all[i].stored, all[i].record = raws[i], doc; doc != nil {
			all[i].l.over(&doc.Process)
		}
	}
	return err
}

// storedMember is what is stored of a member.
type storedMember struct {
	process *Process // or nil with an error
	record  *record  // likewise
	stored  bson.Raw // the living record, or nil
	living  *living  // likewise
	err     error
}

// remote returns an error unless m is a remote process that has not ended.
func (m *storedMember) remote() error {
	switch {
	case m.err != nil:
		return m.err
	case !m.process.Remote:
		return fmt.Errorf("%w: %v", ErrSelfManaged, m.process.GPID)
	case m.process.End != nil:
		return fmt.Errorf("%w: %v", ErrEnded, m.process.GPID)
	}
	return nil
}

// member reads a member.
func (r *Registry) member(ctx context.Context, k MemberKey) storedMember {
	return r.members(ctx, []MemberKey{k})[0]
}

// members reads many members with few calls of the store: their living records, the
// claims of those that have none, and then the records, which say if one has ended in
// between.
func (r *Registry) members(ctx context.Context, all []MemberKey) []storedMember {
	found := make([]storedMember, len(all))
	keys := make([]string, len(all)) // of the documents to read
	read := func(collection string, add func(m *storedMember, i int, raw bson.Raw) error) {
		if !slices.ContainsFunc(keys, func(k string) bool { return k != "" }) {
			return
		}
		raws, err := getRaw(ctx, r.store, collection, keys)
		for i := range found {
			m := &found[i]
			if m.err = cmp.Or(m.err, err); m.err == nil && keys[i] != "" {
				m.err = add(m, i, raws[i])
			}
		}
	}
	for i, k := range all {
		if k.valid() {
			keys[i] = string(k)
		}
	}
	records := make([]string, len(all))
	read(livingRecords, func(m *storedMember, i int, raw bson.Raw) error {
		keys[i] = string(all[i][:8])
		if raw == nil {
			return nil
		}
		l, err := decode[living](raw, livingRecords)
		m.stored, m.living, records[i] = raw, &l, processKey(l.gpid, keys[i])
		keys[i] = ""
		return err
	})
	read(claimRecords, func(_ *storedMember, i int, raw bson.Raw) error {
		if raw == nil {
			return nil
		}
		h, err := decode[holding](raw, claimRecords)
		records[i] = h.Process // or "" if it is pruned
		return err
	})
	copy(keys, records)
	read(processRecords, func(m *storedMember, i int, raw bson.Raw) error {
		if raw == nil {
			return nil
		}
		doc, err := decode[record](raw, processRecords)
		if err == nil && all[i].has(doc.Member) {
			m.record = &doc
			if m.process = doc.alone(); m.living != nil {
				m.living.over(m.process)
			}
		}
		return err
	})
	for i := range found {
		if m := &found[i]; m.err == nil && m.process == nil {
			m.err = fmt.Errorf("registry: member %s: %w", all[i], store.ErrNotFound)
		}
	}
	return found
}
