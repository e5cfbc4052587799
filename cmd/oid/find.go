package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/cmd/oid/internal/documents"
	"github.com/oidkit/oid/store"
)

const findHelp = `List the documents of a collection in the order of their _id, one per line, as
Extended JSON. With --since, --from or --to, list only documents that were created in
that time range. The command then reads no other documents.`

func newFindCommand(std streams) *cobra.Command {
	var (
		where storeFlag
		times timeRange
		q     store.Query
		after string
		count bool
	)
	cmd := &cobra.Command{
		Use:   "find COLLECTION",
		Short: "List documents, or those of a time range",
		Long:  findHelp,
		Example: `  oid find events --since 24h
  oid find events --limit 100 --after 6592008029c8c3e4dc76256c`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := store.CheckCollection(args[0]); err != nil {
				return usageError{err}
			}
			last, err := readQuery(&q, times, after)
			if err != nil {
				return err
			}
			if count && (q.Descending || after != "" || q.Limit > 0) {
				return usagef("--count cannot be combined with --desc, --after or --limit")
			}
			var n int64
			err = where.usingCollection(cmd.Context(), args[0], func(s store.Store) (bool, error) {
				if count && !times.strings {
					n, err = s.Count(cmd.Context(), args[0], q.Range)
				} else if docs, failed := find(cmd.Context(), s, args[0], q, last, times.strings); failed != nil {
					return true, failed
				} else {
					out := std
					if count {
						out.out = io.Discard
					}
					n, err = writeDocuments(out, docs)
				}
				if err == nil {
					times.leftOut(cmd.Context(), std, s, args[0])
				}
				return n > 0, err
			})
			if err == nil && count {
				_, err = fmt.Fprintln(std.out, n)
			}
			return err
		},
	}
	where.addFlag(cmd)
	times.addFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&times.strings, "strings", false, "select ids that are stored as strings of 24 digits in lower case")
	f.IntVarP(&q.Limit, "limit", "n", 0, "list at most `N` documents; 0 lists all")
	f.BoolVar(&q.Descending, "desc", false, "list the greatest _id first: the newest document, if ids are ObjectIds")
	f.StringVar(&after, "after", "", "continue after this `ID`, the last _id of an earlier list")
	f.BoolVar(&count, "count", false, "print only the number of documents")
	return cmd
}

// find returns the documents that q selects and that come after the one with the _id last. With
// strings, it returns only those whose _id is the digits of an ObjectId.
func find(ctx context.Context, s store.Store, collection string, q store.Query, last docID, strings bool) (iter.Seq2[bson.Raw, error], error) {
	limit := q.Limit
	if strings {
		q.Limit = 0
	}
	docs, err := last.find(ctx, s, collection, q)
	if strings {
		docs = onlyIDs(docs, limit)
	}
	return docs, err
}

// readQuery sets the Range of q from the flags, and returns the _id of --after.
func readQuery(q *store.Query, times timeRange, after string) (last docID, err error) {
	if q.Limit < 0 {
		return last, usagef("--limit %d: want 0 (no limit) or more", q.Limit)
	}
	if q.Range, err = times.keys(); err != nil || after == "" {
		return last, err
	}
	if last, err = parseDocID(after); err == nil && last.key.IsZero() && times.given() {
		err = fmt.Errorf("%s has no time; leave out the time range", last)
	}
	if err != nil {
		return last, usageError{fmt.Errorf("--after: %w", err)}
	}
	return last, nil
}

// writeDocuments prints documents and returns their number.
func writeDocuments(std streams, docs iter.Seq2[bson.Raw, error]) (n int64, _ error) {
	out := bufio.NewWriterSize(std.out, 1<<16)
	for doc, err := range docs {
		var line []byte
		if err == nil {
			line, err = documents.AsLine(doc)
		}
		if err != nil {
			return n, errors.Join(err, out.Flush())
		}
		if _, err := out.Write(line); err != nil {
			return n, err
		}
		n++
	}
	return n, out.Flush()
}

func newGetCommand(std streams) *cobra.Command {
	var where storeFlag
	cmd := &cobra.Command{
		Use:   "get COLLECTION [ID...]",
		Short: "Print documents by their _id",
		Long: `Print the documents with these IDs as Extended JSON, one per line, in the order of the
IDs. Without an ID, the command reads IDs from standard input, one per line.

` + docIDHelp,
		Example: `  oid get events 6592008029c8c3e4dc76256c
  oid get users '"alice"' 17`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			collection, _, err := parseNames(args)
			if err != nil {
				return err
			}
			return where.usingCollection(cmd.Context(), collection, func(s store.Store) (bool, error) {
				var notFound error // errReported if an ID was reported
				docs := documentsOf(cmd.Context(), std, s, collection, args[1:], &notFound)
				n, err := writeDocuments(std, docs)
				return n > 0, cmp.Or(err, notFound)
			})
		},
	}
	where.addFlag(cmd)
	return cmd
}

// documentsOf returns the documents with some keys or, if keys is empty, with the keys on
// standard input. It reports each invalid key and each key that no document has, and then sets
// missing.
func documentsOf(ctx context.Context, std streams, s store.Store, collection string, keys []string, missing *error) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) {
		var failed error
		for _, text := range textsOf(ctx, std, keys, "ids", &failed) {
			var doc bson.Raw
			id, err := parseDocID(text)
			if err == nil {
				doc, err = id.get(ctx, s, collection)
				err = id.explain(ctx, s, collection, err)
			}
			if errors.Is(err, store.ErrKey) || errors.Is(err, store.ErrNotFound) {
				std.warn("%v", err)
				*missing = errReported
			} else if !yield(doc, err) {
				return
			}
		}
		if failed != nil {
			yield(nil, failed)
		}
	}
}
