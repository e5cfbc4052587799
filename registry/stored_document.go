package registry

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"

	"github.com/oidkit/oid/store"
)

// Collections of a registry. A store finds documents by _id alone, so every question is a range
// of keys:
//
//	collection     _id                           content
//	oid.processes  ip:port:start_time:pid/block  record: the description of a process
//	oid.living     block and member              living record: what heartbeats change
//	oid.ended      time:record                   index of ended processes by time
//	oid.values     block                         claim of a block
//	               value:time:block              claim of an adopted value
//	oid.samples    block:time                    consecutive samples of a process
//	oid.hosts      value:record                  index by host and pid, for the classic layout
//	oid.registry   registry                      up to which time samples are pruned
//
// A block is 8 hexadecimal digits, an adopted value 8 or 10, and a time 13 digits of Unix
// milliseconds. States are not stored: they are derived from the documents, so two readers
// may disagree about a state for one heartbeat.
//
// A heartbeat is one conditional write of the living record, which has less than 200 bytes
// and holds the latest six samples. Six new samples become one document, and the documents
// of an hour are joined later. After a day, one sample a minute is kept. The block of a
// process determines when in each interval its heartbeat is sent, which spreads the heartbeats
// of many processes evenly. Writes that several members of one Registry make at the same
// time share one call of the store.
const (
	processRecords  = "oid.processes"
	livingRecords   = "oid.living"
	endedRecords    = "oid.ended"
	registryRecords = "oid.registry"
	claimRecords    = "oid.values"
	sampleRecords   = "oid.samples"
	hostRecords     = "oid.hosts"
)

// format is the version of the documents, in field v. This package reads and writes only
// this version. Increase it if an older program would misread a new document. A field that
// an older program can ignore needs no new version.
const format = 1

// dataDoc returns the BSON of a [living] or a [sampleDoc]: key, format version and binary
// data. Every heartbeat needs one, and [bson.Marshal] is many times slower.
func dataDoc(key string, data []byte) bson.Raw {
	b := make([]byte, 4, 32+len(key)+len(data)) // begins with the size
	b = append(append(b, byte(bson.TypeString)), "_id\x00"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(key)+1))
	b = append(append(b, key...), 0)
	b = append(append(b, byte(bson.TypeInt32)), "v\x00"...)
	b = binary.LittleEndian.AppendUint32(b, format)
	b = append(append(b, byte(bson.TypeBinary)), "d\x00"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	b = append(append(b, bson.TypeBinaryGeneric), data...)
	b = append(b, 0)
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	return b
}

// splitData returns the key and the data of a document of dataDoc. The data is a part of
// raw.
func splitData(raw bson.Raw) (key string, data []byte, err error) {
	key, isKey := raw.Lookup("_id").StringValueOK()
	_, data, isData := raw.Lookup("d").BinaryOK()
	if !isKey || !isData {
		err = fmt.Errorf("document %q: want a string in _id and binary data in d", key)
	}
	return key, data, err
}

// decode reads a document of a collection. The error wraps [ErrFormat] if the document has
// another format version.
func decode[T any](raw bson.Raw, collection string) (doc T, err error) {
	if n, ok := raw.Lookup("v").AsInt64OK(); !ok || n != format {
		has := "no valid format version"
		if ok {
			has = fmt.Sprintf("format version %d", n)
		}
		k, _ := store.KeyOf(raw)
		return doc, fmt.Errorf("%w: document %v of %s has %s, but this program reads version %d; use the oid that wrote it, or another store", ErrFormat, k, collection, has, format)
	}
	if r, ok := any(&doc).(interface{ read(bson.Raw) error }); ok { // much faster, of documents of which there are many
		err = r.read(raw)
	} else {
		err = bson.Unmarshal(raw, &doc)
	}
	if err != nil {
		return doc, fmt.Errorf("registry: read document of %s: %w", collection, err)
	}
	return doc, nil
}

// checkFormat returns an error that wraps [ErrFormat] if the first record has another format
// version: a process must not write into such a registry. After a success it reads nothing.
func (r *Registry) checkFormat(ctx context.Context) (err error) {
	if !r.formatRead.Load() {
		for _, err = range findDocs[struct{}](ctx, r.store, processRecords, store.Query{Limit: 1}) {
		}
		r.formatRead.Store(err == nil)
	}
	return err
}

// getDoc reads one document.
func getDoc[T any](ctx context.Context, s store.Store, collection, k string) (doc T, err error) {
	raw, err := s.Get(ctx, collection, storeKey(k))
	if err != nil {
		return doc, fmt.Errorf("registry: read %s of %s: %w", k, collection, err)
	}
	return decode[T](raw, collection)
}

// unlessNotFound returns nil if err wraps [store.ErrNotFound], and otherwise err.
func unlessNotFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// errUnchanged is returned by a change function of amend to leave the document as it is.
var errUnchanged = errors.New("unchanged")

// amend changes the document with a key and returns it. If another writer changes it at the
// same time, amend reads it and calls change again. An error of change ends amend.
func amend[T any](ctx context.Context, s store.Store, collection, k string, change func(doc *T) error) (*T, error) {
	for {
		raw, err := s.Get(ctx, collection, storeKey(k))
		if err != nil {
			return nil, err
		}
		doc, err := decode[T](raw, collection)
		if err == nil {
			err = change(&doc)
		}
		if errors.Is(err, errUnchanged) {
			return &doc, nil
		}
		if err == nil {
			_, err = s.Swap(ctx, collection, raw, doc)
		}
		if !errors.Is(err, store.ErrConflict) {
			return &doc, err
		}
	}
}

// findDocs finds and decodes documents. The first error ends the sequence.
func findDocs[T any](ctx context.Context, s store.Store, collection string, q store.Query) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for raw, err := range s.Find(ctx, collection, q) {
			if err != nil {
				yield(nil, fmt.Errorf("registry: read %s: %w", collection, err))
				return
			}
			doc, err := decode[T](raw, collection)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(&doc, nil) {
				return
			}
		}
	}
}

// swapAll does swaps and returns how many have succeeded. It leaves documents alone that
// others have changed or deleted meanwhile.
func swapAll(ctx context.Context, s store.Store, collection string, swaps []store.Swap) (done int, err error) {
	if len(swaps) == 0 {
		return 0, nil
	}
	_, err = s.SwapMany(ctx, collection, swaps)
	for _, err := range errorsOf(len(swaps), err) {
		switch {
		case err == nil:
			done++
		case !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotFound):
			return 0, fmt.Errorf("registry: change %s: %w", collection, err)
		}
	}
	return done, nil
}

// getMany reads the documents with the keys. The result is nil where the document is
// missing or the key is empty.
func getMany[T any](ctx context.Context, s store.Store, collection string, keys []string) ([]bson.Raw, []*T, error) {
	raws, docs, errs := getEach[T](ctx, s, collection, keys)
	return raws, docs, cmp.Or(errs...)
}

// getEach is getMany with a separate error for each key.
func getEach[T any](ctx context.Context, s store.Store, collection string, keys []string) ([]bson.Raw, []*T, []error) {
	raws := make([]bson.Raw, len(keys))
	of, some := make([]store.Key, len(keys)), false
	for i, k := range keys {
		of[i], some = storeKey(k), some || k != ""
	}
	if some {
		found, err := s.GetMany(ctx, collection, of)
		if err != nil {
			return raws, make([]*T, len(keys)), slices.Repeat([]error{fmt.Errorf("registry: read %s: %w", collection, err)}, len(keys))
		}
		raws = found
	}
	docs, errs := decodeAll[T](raws, collection)
	return raws, docs, errs
}

// decodeAll decodes documents. nil documents stay nil.
func decodeAll[T any](raws []bson.Raw, collection string) ([]*T, []error) {
	docs, errs := make([]*T, len(raws)), make([]error, len(raws))
	for i, raw := range raws {
		if raw == nil {
			continue
		}
		if doc, err := decode[T](raw, collection); err != nil {
			errs[i] = err
		} else {
			docs[i] = &doc
		}
	}
	return docs, errs
}

// findMany reads and decodes the documents in each range. few is how many documents most
// ranges have at most: findMany first reads that many, and reads ranges that may have more
// again as a whole.
func findMany[T any](ctx context.Context, s store.Store, collection string, ranges []store.Range, few int) ([][]*T, error) {
	if len(ranges) == 0 {
		return nil, nil
	}
	found, err := s.FindMany(ctx, collection, ranges, few)
	var full []int
	var wholes []store.Range
	for i, docs := range found {
		if len(docs) == few {
			full, wholes = append(full, i), append(wholes, ranges[i])
		}
	}
	if len(full) > 0 {
		var all [][]bson.Raw
		all, err = s.FindMany(ctx, collection, wholes, 0)
		for i, docs := range all {
			found[full[i]] = docs
		}
	}
	if err != nil {
		return nil, fmt.Errorf("registry: read %s: %w", collection, err)
	}
	docs := make([][]*T, len(found))
	for i, raws := range found {
		var errs []error
		if docs[i], errs = decodeAll[T](raws, collection); cmp.Or(errs...) != nil {
			return nil, cmp.Or(errs...)
		}
	}
	return docs, nil
}

// inParallel calls do for 0 to n-1, up to atOnce at a time, and returns one of the errors.
func inParallel(n int, do func(i int) error) error {
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i := range n {
		g.Go(func() error { return do(i) })
	}
	return g.Wait()
}

// atOnce bounds how many calls inParallel makes at the same time.
const atOnce = 16
