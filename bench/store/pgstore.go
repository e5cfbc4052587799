package main

import (
	"context"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
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

// measurePgstore measures the engine for PostgreSQL beside the same done by hand with
// pgx, on the same server and in turn. It returns the store, with data in collection
// events.
func measurePgstore(ctx context.Context, conn *pgx.Conn, pid int, data []row, rounds int) (*pgstore.Store, string, error) {
	all, err := marshal(data, 300)
	if err != nil {
		return nil, "", err
	}
	docs, turns := all[:min(len(all), 200_000)], min(rounds, 7)
	s, err := pgstore.Open(ctx, conn.Config().ConnString())
	if err != nil {
		return nil, "", err
	}
	own := func(round int) string { return fmt.Sprintf("own%d", round) }
	from := data[len(docs)/2].at
	stretch := objectid.Between(from, from.Add(perRange*time.Second/perSecond))
	where, args := stretch.SQL("_id", 1)
	var b strings.Builder
	b.WriteString("| pgstore, and by hand with pgx | documents a second | client | server | ratio |\n|---|---:|---:|---:|---:|\n")
	for _, group := range []group{
		{len(docs), 1, []named{
			{"InsertMany, 10,000 at a time", func(round int) error { return insertAll(ctx, s, own(round), docs) }},
			{"COPY by hand into a table with the same columns", func(round int) error {
				return copyAll(ctx, conn, own(round), data, docs, "_id", "doc", "call")
			}},
			{"COPY by hand into a table without the column for retries", func(round int) error {
				return copyAll(ctx, conn, "bare_"+own(round), data, docs, "_id", "doc")
			}},
		}},
		{len(docs), 1, []named{
			{"Find of everything", func(round int) error { return count(len(docs), s.Find(ctx, own(round), store.Query{})) }},
			{"SELECT by hand", func(round int) error {
				return countOwn(len(docs))(conn.Query(ctx, "SELECT doc FROM "+own(round)+" ORDER BY _id"))
			}},
		}},
		{perRange, 100, []named{
			{"Find of 1,000 by _id", func(round int) error {
				return count(perRange, s.Find(ctx, own(round), store.Query{Range: store.IDRange(stretch)}))
			}},
			{"SELECT of 1,000 by hand", func(round int) error {
				return countOwn(perRange)(conn.Query(ctx, "SELECT doc FROM "+own(round)+" WHERE "+where+" ORDER BY _id", args...))
			}},
		}},
	} {
		lines, err := group.measure(pid, turns)
		if err != nil {
			return nil, "", err
		}
		b.WriteString(lines)
	}
	fmt.Fprintf(&b, "\nOf %s documents, in turns, medians of %d. client, server: µs of processor time for a document. ratio: above 1 the store is faster.\n", humanize.Comma(int64(len(docs))), turns)
	if err := insertAll(ctx, s, "events", all); err != nil {
		return nil, "", err
	}
	_, err = conn.Exec(ctx, "VACUUM ANALYZE oid.events") // as the tables made by hand
	return s, b.String(), err
}

// group is one task, done by the store and by hand.
type group struct {
	n, times int // documents each time, and how often in one turn
	ways     []named
}

type named struct {
	name string
	do   func(round int) error
}

// measure returns the lines of a table. Each way is the first in turn. pid is that of the
// server.
func (g group) measure(pid, turns int) (string, error) {
	type cost struct{ wall, client, server []float64 } // in seconds, by round
	costs := make([]cost, len(g.ways))
	for round := range turns {
		for k := range g.ways {
			way := (k + round) % len(g.ways)
			server, err := serverTime(pid)
			if err != nil {
				return "", err
			}
			began, client := time.Now(), page.ProcessorTime()
			for range g.times {
				if err := g.ways[way].do(round); err != nil {
					return "", fmt.Errorf("%s: %w", g.ways[way].name, err)
				}
			}
			wall := time.Since(began)
			client = page.ProcessorTime() - client
			after, err := serverTime(pid)
			if err != nil {
				return "", err
			}
			c := &costs[way]
			c.wall, c.client, c.server = append(c.wall, wall.Seconds()), append(c.client, client.Seconds()), append(c.server, (after-server).Seconds())
		}
	}
	var b strings.Builder
	for way, w := range g.ways {
		ratios := make([]float64, turns)
		for round := range ratios {
			ratios[round] = costs[way].wall[round] / costs[0].wall[round]
		}
		n, c := float64(g.n*g.times), costs[way]
		fmt.Fprintf(&b, "| %s | %s | %.2f | %.2f | %.2f |\n", w.name, humanize.Comma(int64(n/page.Median(c.wall))), 1e6*page.Median(c.client)/n, 1e6*page.Median(c.server)/n, page.Median(ratios))
	}
	return b.String(), nil
}

// serverTime returns the processor time of a server's processes, the first of which has pid.
func serverTime(pid int) (time.Duration, error) {
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	if err != nil {
		return 0, err
	}
	total, err := page.ProcessorTimeOf(pid)
	for child := range strings.FieldsSeq(string(children)) {
		n, _ := strconv.Atoi(child)
		if used, err := page.ProcessorTimeOf(n); err == nil { // otherwise it has ended
			total += used
		}
	}
	return total, err
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

// copyAll makes a table with columns and fills it.
func copyAll(ctx context.Context, conn *pgx.Conn, table string, data []row, docs []any, columns ...string) error {
	call := ""
	if len(columns) > 2 {
		call = ", call bigint NOT NULL"
	}
	if _, err := conn.Exec(ctx, "CREATE TABLE "+table+" (_id bytea PRIMARY KEY, doc bytea NOT NULL"+call+")"); err != nil {
		return err
	}
	for at := 0; at < len(docs); at += batch {
		_, err := conn.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromSlice(min(batch, len(docs)-at), func(i int) ([]any, error) {
			return []any{data[at+i].id[:], []byte(docs[at+i].(bson.Raw)), int64(at)}[:len(columns)], nil
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
