package pgstore

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// FindMany returns the documents in ranges, see [store.Store].
func (s *Store) FindMany(ctx context.Context, collection string, ranges []store.Range, limit int) ([][]bson.Raw, error) {
	if err := s.life.Check(ctx, collection); err != nil {
		return nil, err
	}
	docs := make([][]bson.Raw, 0, len(ranges))
	for some := range slices.Chunk(ranges, manyKeys) {
		found, err := s.findMany(ctx, collection, some, limit)
		if err != nil {
			return nil, err
		}
		docs = append(docs, found...)
	}
	return docs, nil
}

// findMany is FindMany with one statement, which looks up each range in the index.
func (s *Store) findMany(ctx context.Context, collection string, ranges []store.Range, limit int) (docs [][]bson.Raw, err error) {
	from, to := make(blobs, len(ranges)), make(blobs, len(ranges))
	for i, r := range ranges {
		if from[i], to[i] = bound(r.From), []byte{tagEnd}; !r.To.IsZero() {
			to[i] = bound(r.To)
		}
	}
	few := ""
	if limit > 0 {
		few = fmt.Sprintf(" LIMIT %d", limit) // no argument: the server would expect a tenth of the range
	}
	text := fmt.Sprintf(`SELECT place, doc FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS r (low, high, place),
		LATERAL (SELECT _id, doc FROM %s WHERE _id >= r.low AND _id < r.high ORDER BY _id%s) AS found ORDER BY place, _id`, s.table(collection), few)
	err = s.do(ctx, func(c *pgx.Conn, _ bool) error {
		docs = make([][]bson.Raw, len(ranges))
		err := query(ctx, c, func(values [][]byte) {
			i := binary.BigEndian.Uint64(values[0]) - 1
			docs[i] = append(docs[i], slices.Clone(values[1]))
		}, text, from, to)
		if isMissing(err) {
			return nil
		}
		return err
	})
	return docs, err
}
