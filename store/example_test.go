package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

// openExample opens a store in a temporary folder. done closes and removes it.
func openExample(ctx context.Context) (s *sqlitestore.Store, done func()) {
	folder, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	s, err = sqlitestore.Open(ctx, filepath.Join(folder, "events.db"), nil)
	if err != nil {
		log.Fatal(err)
	}
	return s, func() {
		s.Close()
		os.RemoveAll(folder)
	}
}

// A document without an _id gets an ObjectId, and a query finds it by the creation time in
// that id.
func Example() {
	ctx := context.Background()
	s, done := openExample(ctx) // sqlitestore.Open(ctx, "events.db", nil)
	defer done()
	if _, err := s.Insert(ctx, "events", bson.D{{Key: "kind", Value: "start"}}); err != nil {
		log.Fatal(err)
	}
	lastHour := store.Query{Range: store.IDRange(objectid.Since(time.Now().Add(-time.Hour)))}
	for doc, err := range s.Find(ctx, "events", lastHour) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(doc.Lookup("kind").StringValue())
	}
	// Output: start
}

// List documents in pages: each page begins after the last key of the page before. The hundredth
// page costs no more than the first.
func ExampleQuery_pages() {
	ctx := context.Background()
	s, done := openExample(ctx)
	defer done()
	for _, name := range []string{"ann", "bob", "cid", "dan", "eve"} {
		if _, err := s.Insert(ctx, "users", bson.D{{Key: "_id", Value: name}}); err != nil {
			log.Fatal(err)
		}
	}
	q := store.Query{Limit: 2}
	for page := 1; ; page++ {
		n := 0
		for doc, err := range s.Find(ctx, "users", q) {
			if err != nil {
				log.Fatal(err)
			}
			if q.After, err = store.KeyOf(doc); err != nil {
				log.Fatal(err)
			}
			fmt.Println("page", page, q.After)
			n++
		}
		if n < q.Limit {
			break
		}
	}
	// Output:
	// page 1 "ann"
	// page 1 "bob"
	// page 2 "cid"
	// page 2 "dan"
	// page 3 "eve"
}

// Delete all documents that were created more than 30 days ago.
func ExampleStore_deleteRange() {
	ctx := context.Background()
	s, done := openExample(ctx)
	defer done()
	for _, age := range []time.Duration{40 * 24 * time.Hour, 20 * 24 * time.Hour, 0} {
		g, err := objectid.NewGenerator(&objectid.Options{Now: func() time.Time { return time.Now().Add(-age) }})
		if err != nil {
			log.Fatal(err)
		}
		if _, err := s.Insert(ctx, "events", bson.D{{Key: "_id", Value: g.New()}}); err != nil {
			log.Fatal(err)
		}
	}
	old := objectid.Until(time.Now().AddDate(0, 0, -30))
	n, err := s.DeleteRange(ctx, "events", store.IDRange(old))
	fmt.Println(n, err)
	// Output: 1 <nil>
}
