package pgstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/storetest"
	"github.com/oidkit/oid/store/pgstore"
)

// tableOf returns a connection to the server and the qualified name of a table.
func tableOf(t *testing.T, uri, name string) (*pgx.Conn, string) {
	t.Helper()
	server, schema, _ := strings.Cut(uri, "oid_schema=")
	conn, err := pgx.Connect(t.Context(), strings.TrimRight(server, "&?"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn, pgx.Identifier{schema, name}.Sanitize()
}

// TestClocksThatDiffer lets eight writers with clocks an hour apart from one to the
// next store documents at the same time, while another program holds a transaction
// open that began before all of them and ends after them. A follower sees each
// document once, and is not held up by that transaction.
func TestClocksThatDiffer(t *testing.T) {
	const writers = 8
	each := testenv.Rounds(1500, 15_000)
	uri := testenv.PostgresSchema(t, testenv.PostgresURL(t))
	s := open(t, uri)
	if _, err := s.Insert(t.Context(), "c", bson.D{{Key: "_id", Value: "begin"}}); err != nil {
		t.Fatal(err)
	}
	conn, table := tableOf(t, uri, "c")
	f := follow(t, open(t, uri), "c")
	f.await(t, 1)
	late := objectid.MinAt(time.Now().Add(-100 * time.Hour))
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: late}})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "INSERT INTO "+table+" (_id, doc, call) VALUES ('\\x30'::bytea || $1, $2, 0)", late[:], doc); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			w, err := pgstore.Open(t.Context(), uri)
			if err != nil {
				t.Error(err)
				return
			}
			defer w.Close()
			g, err := objectid.NewGenerator(&objectid.Options{Now: func() time.Time { return time.Now().Add(time.Duration(i-writers/2) * time.Hour) }})
			if err != nil {
				t.Error(err)
				return
			}
			for left := each; left > 0; {
				docs := make([]any, min(1+rand.IntN(200), left))
				for j := range docs {
					docs[j] = bson.D{{Key: "writer", Value: int32(i)}}
				}
				if _, err := w.InsertMany(t.Context(), "c", docs, &store.InsertOptions{Generator: g}); err != nil {
					t.Error(err)
					return
				}
				left -= len(docs)
			}
		})
	}
	group.Wait()
	f.await(t, 1+writers*each) // the transaction is still open
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.await(t, 2+writers*each)
	f.check(t, s, "c", []string{late.String()})
}

// await waits until the follower has seen so many documents.
func (f *follower) await(t *testing.T, n int) {
	t.Helper()
	testenv.Await(t, fmt.Sprintf("%d documents at the follower", n), func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.seen) < n {
			return fmt.Errorf("%d have come", len(f.seen))
		}
		return nil
	})
}

// Notifications wake a watcher: it never polls here.
func TestWatchIsWoken(t *testing.T) {
	uri := testenv.PostgresSchema(t, testenv.PostgresURL(t))
	watched := open(t, uri)
	watched.PollEvery(time.Hour)
	f := follow(t, watched, "c")
	writer := open(t, uri)
	time.Sleep(200 * time.Millisecond) // it listens and has looked
	for n := range 3 {
		began := time.Now()
		if _, err := writer.Insert(t.Context(), "c", bson.D{}); err != nil {
			t.Fatal(err)
		}
		f.await(t, n+1)
		t.Logf("it came after %v", time.Since(began))
	}
	// The second of two notifications has to wait, and the writer closes meanwhile.
	for range 2 {
		if _, err := writer.Insert(t.Context(), "c", bson.D{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	f.await(t, 5)
	f.stop()
	<-f.done
}

func TestSignals(t *testing.T) {
	uri := testenv.PostgresSchema(t, testenv.PostgresURL(t))
	storetest.Signals(t, func() store.Store { return open(t, uri) }, false)
}

// A signal is sent even if its sender closes at once, as a command does.
func TestCloseSendsSignals(t *testing.T) {
	uri := testenv.PostgresSchema(t, testenv.PostgresURL(t))
	signals, works, stop := open(t, uri).Listen("topic")
	defer stop()
	for !works() {
		<-signals
	}
	sender := open(t, uri)
	sender.Signal("topic")
	if err := sender.Close(); err != nil {
		t.Error(err)
	}
	select {
	case <-signals:
	case <-time.After(10 * time.Second):
		t.Error("the signal has not come")
	}
}

// A table that was restored from the dump of another server has numbers of
// transactions that this one has yet to reach. What comes is seen all the same.
func TestWatchAfterRestore(t *testing.T) {
	uri := testenv.PostgresSchema(t, testenv.PostgresURL(t))
	s := open(t, uri)
	s.PollEvery(10 * time.Millisecond)
	if _, err := s.InsertMany(t.Context(), "c", []any{bson.D{}, bson.D{}}, nil); err != nil {
		t.Fatal(err)
	}
	conn, table := tableOf(t, uri, "c")
	if _, err := conn.Exec(t.Context(), "UPDATE "+table+" SET xid = '99999999999'"); err != nil {
		t.Fatal(err)
	}
	f := follow(t, s, "c")
	f.await(t, 2)
	if _, err := s.Insert(t.Context(), "c", bson.D{}); err != nil {
		t.Fatal(err)
	}
	f.await(t, 3)
	f.check(t, s, "c", nil)
}

// TestWatchNoticesLostTransactions: a server that takes over without what the other
// had acknowledged is not followed as if nothing had happened.
func TestWatchNoticesLostTransactions(t *testing.T) {
	t.Parallel()
	primary, behind := testenv.Postgres(t), testenv.Postgres(t)
	uri := testenv.PostgresSchema(t, testenv.PostgresPair(primary, behind))
	_, schema, _ := strings.Cut(uri, "oid_schema=")
	if _, err := open(t, behind.URL()+"&oid_schema="+schema).Insert(t.Context(), "c", bson.D{}); err != nil {
		t.Fatal(err)
	}
	s := open(t, uri)
	for range 100 {
		if _, err := s.Insert(t.Context(), "c", bson.D{}); err != nil {
			t.Fatal(err)
		}
	}
	found := 0
	for _, err := range s.Watch(t.Context(), "c", store.Range{}) {
		if err != nil {
			if !strings.Contains(err.Error(), "the server has lost transactions that were committed") || found != 100 {
				t.Errorf("after %d documents: %v", found, err)
			}
			return
		}
		if found++; found == 100 {
			primary.Kill()
		}
	}
}
