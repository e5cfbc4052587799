package pgstore_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/pgstore"
)

// cutter stands between a store and its server. When it is armed with n, it drops the
// n-th answer from then on and cuts the connection: what was asked was done, and
// nobody is told.
type cutter struct {
	addr string
	left atomic.Int32 // answers until the cut; 0 is not armed
	cuts atomic.Int32
}

func newCutter(t *testing.T, server string) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c := &cutter{addr: l.Addr().String()}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			go func() { _, _ = io.Copy(upstream, client); upstream.Close() }()
			go c.answers(client, upstream)
		}
	}()
	return c
}

func (c *cutter) answers(client, upstream net.Conn) {
	defer client.Close()
	b := make([]byte, 1<<16)
	for {
		n, err := upstream.Read(b)
		if err != nil {
			return
		}
		if c.left.Load() > 0 && c.left.Add(-1) == 0 {
			c.cuts.Add(1)
			time.Sleep(20 * time.Millisecond) // the server ends what it does
			return
		}
		if _, err := client.Write(b[:n]); err != nil {
			return
		}
	}
}

// TestAnswerIsLost loses the answer to each message of each kind of write. The write
// is done once, and the call reports success; but a deletion, after which nobody can
// say who made it, reports that the document is not there.
func TestAnswerIsLost(t *testing.T) {
	for name, server := range map[string]func(t *testing.T) string{
		"direct":    func(t *testing.T) string { return testenv.Postgres(t).URL() },
		"pgbouncer": func(t *testing.T) string { return testenv.PgBouncer(t, testenv.Postgres(t)) },
	} {
		t.Run(name, func(t *testing.T) { answerIsLost(t, server(t)) })
	}
}

func answerIsLost(t *testing.T, server string) {
	_, rest, _ := strings.Cut(server, "@")
	addr, _, _ := strings.Cut(rest, "/")
	c := newCutter(t, addr)
	uri := testenv.PostgresSchema(t, server)
	observer := open(t, uri, nil)
	s := open(t, strings.Replace(uri, addr, c.addr, 1), &pgstore.Options{Poll: time.Hour})
	many := func(from, n int) []any {
		docs := make([]any, n)
		for i := range docs {
			docs[i] = bson.D{{Key: "_id", Value: int32(from + i)}, {Key: "n", Value: "x"}}
		}
		return docs
	}
	get := func(key int64) bson.Raw {
		doc, err := observer.Get(t.Context(), "c", store.Int(key))
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
		"Delete":   func() error { return deleted(s.Delete(t.Context(), "c", store.Int(1000))) },
		"DeleteIf": func() error { return deleted(s.DeleteIf(t.Context(), "c", get(1000))) },
	} {
		for n := int32(1); ; n++ {
			for _, collection := range []string{"c", "new"} {
				if err := observer.Drop(t.Context(), collection); err != nil && !errors.Is(err, store.ErrNotFound) {
					t.Fatal(err)
				}
			}
			if _, err := observer.InsertMany(t.Context(), "c", many(1000, 2), nil); err != nil {
				t.Fatal(err)
			}
			cuts := c.cuts.Load()
			c.left.Store(n)
			if err := write(); err != nil {
				t.Errorf("%s, answer %d lost: %v", name, n, err)
			}
			c.left.Store(0)
			if c.cuts.Load() == cuts {
				t.Logf("%s: %d answers", name, n-1)
				break
			}
		}
	}
}

// refusedAlone returns nil if err refuses the document at a place and no other.
func refusedAlone(err error, place int) error {
	var refused *store.RefusedError
	if !errors.As(err, &refused) || len(refused.Refused) == 0 || refused.Refused[0].Index != place {
		return fmt.Errorf("%w, want document %d refused", err, place)
	}
	return nil
}

// deleted returns nil if err is of a deletion that was made, maybe by this call.
func deleted(err error) error {
	if errors.Is(err, store.ErrNotFound) && strings.Contains(err.Error(), "connection was lost") {
		return nil
	}
	return err
}
