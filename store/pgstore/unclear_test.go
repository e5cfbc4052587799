package pgstore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/pgstore"
)

// TestAnswerIsLost loses the answer to each message of each kind of write in turn. The write
// must be done once, and the call must succeed. Deletions are the exception: the call reports
// that the document does not exist, because nobody can tell who deleted it.
func TestAnswerIsLost(t *testing.T) {
	t.Run("direct", func(t *testing.T) { answerIsLost(t, testenv.SharedPostgres(t).URL()) })
	t.Run("pgbouncer", func(t *testing.T) { answerIsLost(t, testenv.SharedPgBouncer(t)) })
}

func answerIsLost(t *testing.T, server string) {
	_, rest, _ := strings.Cut(server, "@")
	addr, _, _ := strings.Cut(rest, "/")
	c := testenv.NewCable(t, addr)
	uri := testenv.PostgresSchema(t, server)
	observer := open(t, uri)
	var s *pgstore.Store
	many := func(from, n int) []any {
		docs := make([]any, n)
		for i := range docs {
			docs[i] = bson.D{{Key: "_id", Value: int32(from + i)}, {Key: "n", Value: "x"}}
		}
		return docs
	}
	get := func(key int64) bson.Raw {
		doc, err := observer.Get(t.Context(), "c", store.IntKey(key))
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	insertMany := func(docs []any, ordered bool) error {
		_, err := s.InsertMany(t.Context(), "c", docs, &store.InsertOptions{Ordered: ordered})
		return err
	}
	for name, write := range map[string]func() error{
		"Insert":                 func() error { _, err := s.Insert(t.Context(), "c", many(0, 1)[0]); return err },
		"InsertMany":             func() error { return insertMany(many(0, 300), false) },
		"InsertMany, rising ids": func() error { return insertMany(raws(t, 300, 0), true) },
		"InsertMany of few":      func() error { return insertMany(many(0, 5), false) },
		"InsertMany, ordered":    func() error { return insertMany(many(0, 300), true) },
		"ordered, one is taken":  func() error { return refusedAlone(insertMany(many(900, 300), true), 100) },
		"many, one is taken":     func() error { return refusedAlone(insertMany(many(900, 300), false), 100) },
		"InsertMany into no one": func() error { _, err := s.InsertMany(t.Context(), "new", many(0, 300), nil); return err },
		"Replace":                func() error { return s.Replace(t.Context(), "c", many(1000, 1)[0]) },
		"Swap": func() error {
			_, err := s.Swap(t.Context(), "c", get(1000), bson.D{{Key: "_id", Value: 1000}})
			return err
		},
		"SwapMany": func() error {
			_, err := s.SwapMany(t.Context(), "c", []store.Swap{{Old: get(1000), New: get(1000)}, {Old: get(1001), New: get(1001)}})
			return err
		},
		"Delete": func() error { return deleted(s.Delete(t.Context(), "c", store.IntKey(1000))) },
		"SwapMany that deletes": func() error {
			_, err := s.SwapMany(t.Context(), "c", []store.Swap{{Old: get(1000)}})
			return deleted(err)
		},
	} {
		for n := 1; ; n++ {
			for _, collection := range []string{"c", "new"} {
				if err := observer.DropTable(t.Context(), collection); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := observer.InsertMany(t.Context(), "c", many(1000, 2), nil); err != nil {
				t.Fatal(err)
			}
			// Each time from the first connection on: what is prepared has one answer less.
			var err error
			if s, err = pgstore.Open(t.Context(), strings.Replace(uri, addr, c.Addr, 1)); err != nil {
				t.Fatal(err)
			}
			lost := c.Lost()
			c.LoseAnswer(n)
			if err := write(); err != nil {
				t.Errorf("%s, answer %d lost: %v", name, n, err)
			}
			c.LoseAnswer(0)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if c.Lost() == lost {
				t.Logf("%s: %d answers", name, n-1)
				break
			}
		}
	}
}

// refusedAlone returns nil if err says that the document at index place was refused and no other.
func refusedAlone(err error, place int) error {
	var refused *store.BulkError
	if !errors.As(err, &refused) || len(refused.Refused) == 0 || refused.Refused[0].Index != place {
		return fmt.Errorf("%w, want document %d refused", err, place)
	}
	return nil
}

// deleted returns nil if err is nil or says that this call may have deleted the document.
func deleted(err error) error {
	if errors.Is(err, store.ErrNotFound) && strings.Contains(err.Error(), "connection was lost") {
		return nil
	}
	return err
}
