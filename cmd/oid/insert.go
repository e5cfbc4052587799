package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/cmd/oid/internal/documents"
	"github.com/oidkit/oid/store"
)

func newInsertCommand(std streams) *cobra.Command {
	var (
		where  storeFlag
		stop   bool
		asJSON jsonFlag
	)
	cmd := &cobra.Command{
		Use:   "insert COLLECTION [DOC]",
		Short: "Store documents",
		Long: `Store the document DOC or, without DOC, the documents on standard input: JSON with one
document per line, with documents over several lines, or an array of documents as
mongoexport --jsonArray and Compass write it, or a .bson file of mongodump. The input may
be compressed. For BSON types that JSON does not have, use MongoDB's Extended JSON. A
document without an _id gets an ObjectId.

The command prints the _id of each document after storing it. It reports a document
that cannot be stored, with its line number or its number, and stores the others. If the
input cannot be read to its end, the command says how many documents were stored.`,
		Example: `  oid insert events '{"kind":"start"}'
  oid insert events < events.jsonl > ids
  oid insert --store mongodb://localhost/app events < events.jsonl`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := store.CheckCollection(args[0]); err != nil {
				return usageError{err}
			}
			if len(args) == 2 && strings.TrimSpace(args[1]) == "" {
				return usagef("the document is empty; give a JSON object, or no DOC to read documents from standard input")
			}
			var in io.Reader
			if len(args) == 2 && args[1] != "-" {
				in = strings.NewReader(strings.ReplaceAll(args[1], "\n", " ")) // a line break in JSON is equivalent to a space
			} else {
				in = std.stdin(cmd.Context(), "documents")
			}
			return using(cmd.Context(), where.openToWrite, func(s store.Store) error {
				w := insertion{s: s, collection: args[0], ordered: stop, asJSON: bool(asJSON), std: std, single: len(args) == 2 && strings.HasPrefix(strings.TrimSpace(args[1]), "{")}
				return w.run(cmd.Context(), in)
			})
		},
	}
	where.addFlag(cmd)
	cmd.Flags().BoolVar(&stop, "stop-on-error", false, "stop at the first document that cannot be stored")
	asJSON.addFlag(cmd, "write {\"_id\": ...} for each document")
	return cmd
}

// insertion is one run of oid insert.
type insertion struct {
	s          store.Store
	collection string
	ordered    bool
	asJSON     bool
	single     bool // whether the document is an argument, so it has no line number
	std        streams

	stored  int
	refused bool
}

// run stores the documents that it reads from in. While it stores a batch, it reads the next
// one.
func (w *insertion) run(ctx context.Context, in io.Reader) error {
	for batch, err := range documents.Batches(ctx, in) {
		if err == nil {
			err = w.store(ctx, batch)
		}
		if errors.Is(err, errReported) {
			return err
		}
		if err != nil {
			return fmt.Errorf("%w; documents stored before this error: %d", err, w.stored)
		}
	}
	if w.refused {
		return errReported
	}
	return nil
}

// store stores a batch, prints the ids of the stored documents and reports the refused ones.
func (w *insertion) store(ctx context.Context, batch []documents.Line) error {
	docs := make([]any, len(batch))
	for i, l := range batch {
		if docs[i] = l.Doc; l.Err != nil {
			docs[i] = unreadable{l.Err}
		}
	}
	keys, err := w.s.InsertMany(ctx, w.collection, docs, &store.InsertOptions{Ordered: w.ordered})
	var refused *store.BulkError
	if errors.As(err, &refused) {
		err = nil
	}
	if printErr := w.print(keys); printErr != nil {
		return printErr
	}
	if refused == nil {
		return err
	}
	for _, r := range refused.Refused {
		l := batch[r.Index]
		place := fmt.Sprintf("%s %d: ", l.Unit, l.Number)
		if w.single {
			place = ""
		}
		w.std.warn("%s%v", place, cmp.Or(l.Err, r.Err))
		w.refused = true
	}
	if w.ordered {
		return errReported
	}
	return nil
}

// unreadable stands for a line that is not a document. The store refuses it like any other
// document, so refusals stay in the order of the lines.
type unreadable struct{ err error }

// MarshalBSON implements [bson.Marshaler]. It always returns the error of the line.
func (u unreadable) MarshalBSON() ([]byte, error) { return nil, u.err }

// print writes the ids of the stored documents.
func (w *insertion) print(keys []store.Key) error {
	out := bufio.NewWriter(w.std.out)
	for _, key := range keys {
		if key.IsZero() {
			continue
		}
		w.stored++
		line, err := []byte(key.String()+"\n"), error(nil)
		if w.asJSON {
			line, err = documents.AsLine(bson.D{{Key: "_id", Value: key}})
		}
		if err != nil {
			return err
		}
		_, _ = out.Write(line) // Flush returns the error
	}
	if err := out.Flush(); err != nil {
		// Do not wrap err: EPIPE is a failure here, because the remaining documents are not
		// stored.
		return fmt.Errorf("print ids: %v", err)
	}
	return nil
}
