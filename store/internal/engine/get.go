package engine

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// GetMany does the part of a [store.Store]'s GetMany that does not depend on the
// engine. It calls read with at most batch keys, each once and in their order, so
// that neighbours are read from one page of the database; read yields the documents
// that have one of them, in any order.
func GetMany(keys []store.Key, batch int, read func(keys []store.Key, yield func(bson.Raw) error) error) ([]bson.Raw, error) {
	docs := make([]bson.Raw, len(keys))
	places := make(map[store.Key][]int, len(keys))
	var rest []store.Key
	for i, key := range keys {
		if places[key] == nil && !key.IsZero() {
			rest = append(rest, key)
		}
		places[key] = append(places[key], i)
	}
	slices.SortFunc(rest, store.Key.Compare)
	for some := range slices.Chunk(rest, batch) {
		err := read(some, func(doc bson.Raw) error {
			key, err := store.KeyOf(doc)
			for n, i := range places[key] {
				if docs[i] = doc; n > 0 {
					docs[i] = slices.Clone(doc) // the caller owns each
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return docs, nil
}
