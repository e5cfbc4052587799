package main

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/jackc/pgx/v5"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/bench/page"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/pgstore"
)

// measurePgstore measures the engine for PostgreSQL beside a table of the same
// documents that is written by hand with pgx, on the same server and in turn.
func measurePgstore(ctx context.Context, conn *pgx.Conn, data []row) (string, error) {
	docs, err := marshal(data, 300)
	if err != nil {
		return "", err
	}
	s, err := pgstore.Open(ctx, conn.Config().ConnString(), nil)
	if err != nil {
		return "", err
	}
	defer s.Close()
	own := func(round int) string { return fmt.Sprintf("own%d", round) }
	from := data[len(data)/2].at
	stretch := objectid.Between(from, from.Add(perRange*time.Second/perSecond))
	where, args := stretch.SQL("id", 1)
	var b strings.Builder
	b.WriteString("| store on PostgreSQL, and a table by hand (BYTEA key and document, pgx) | store, a second | by hand | ratio |\n|---|---:|---:|---:|\n")
	for _, pair := range []struct {
		name     string
		n, times int
		ways     [2]func(round int) error
	}{
		{"InsertMany of 10,000; COPY of 10,000", len(docs), 1, [2]func(int) error{
			func(round int) error { return insertAll(ctx, s, own(round), docs) },
			func(round int) error { return copyAll(ctx, conn, own(round), data, docs) },
		}},
		{"Find of everything; SELECT ORDER BY id", len(docs), 1, [2]func(int) error{
			func(round int) error { return count(len(docs), s.Find(ctx, own(round), store.Query{})) },
			func(round int) error {
				return countOwn(len(docs))(conn.Query(ctx, "SELECT doc FROM "+own(round)+" ORDER BY id"))
			},
		}},
		{"Find of 1,000 by _id; SELECT WHERE id", perRange, 100, [2]func(int) error{
			func(round int) error {
				return count(perRange, s.Find(ctx, own(round), store.Query{Range: store.IDs(stretch)}))
			},
			func(round int) error {
				return countOwn(perRange)(conn.Query(ctx, "SELECT doc FROM "+own(round)+" WHERE "+where+" ORDER BY id", args...))
			},
		}},
	} {
		var rates [2][]float64
		var ratios []float64
		for round := range 3 {
			var took [2]float64
			for k := range took { // each is the first in turn
				way := (k + round) % 2
				began := time.Now()
				for range pair.times {
					if err := pair.ways[way](round); err != nil {
						return "", fmt.Errorf("%s: %w", pair.name, err)
					}
				}
				took[way] = time.Since(began).Seconds()
				rates[way] = append(rates[way], float64(pair.n*pair.times)/took[way])
			}
			ratios = append(ratios, took[1]/took[0])
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %.2f |\n", pair.name, humanize.Comma(int64(page.Median(rates[0]))), humanize.Comma(int64(page.Median(rates[1]))), page.Median(ratios))
	}
	return b.String(), nil
}

// batch is how many documents go in at a time.
const batch = 10_000

func insertAll(ctx context.Context, s store.Store, collection string, docs []any) error {
	for some := range slices.Chunk(docs, batch) {
		if _, err := s.InsertMany(ctx, collection, some, nil); err != nil {
			return err
		}
	}
	return nil
}

func copyAll(ctx context.Context, conn *pgx.Conn, table string, data []row, docs []any) error {
	if _, err := conn.Exec(ctx, "CREATE TABLE "+table+" (id bytea PRIMARY KEY, doc bytea NOT NULL)"); err != nil {
		return err
	}
	for at := 0; at < len(docs); at += batch {
		_, err := conn.CopyFrom(ctx, pgx.Identifier{table}, []string{"id", "doc"}, pgx.CopyFromSlice(min(batch, len(docs)-at), func(i int) ([]any, error) {
			return []any{data[at+i].id[:], []byte(docs[at+i].(bson.Raw))}, nil
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

// count returns an error unless there are n documents.
func count(n int, docs iter.Seq2[bson.Raw, error]) error {
	for _, err := range docs {
		if err != nil {
			return err
		}
		n--
	}
	if n != 0 {
		return fmt.Errorf("%d documents are missing", n)
	}
	return nil
}

// countOwn is count for the rows of a query. Each document is copied, as by Find.
func countOwn(n int) func(rows pgx.Rows, err error) error {
	return func(rows pgx.Rows, err error) error {
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var doc []byte
			if err := rows.Scan(&doc); err != nil {
				return err
			}
			n--
		}
		if n != 0 && rows.Err() == nil {
			return fmt.Errorf("%d rows are missing", n)
		}
		return rows.Err()
	}
}
