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
		Long: `Store a document, or those on standard input, one per line. Documents are JSON, or
MongoDB's Extended JSON where a type needs it. A document without an _id gets an
ObjectId.

The _id of each document is printed after the document is stored. Under load many
documents are stored at once. A document that cannot be stored is reported with its
line; all others are stored.`,
		Example: `  oid insert events '{"kind":"start"}'
  oid insert events < events.jsonl > ids
  oid insert --store mongodb://localhost/app events < events.jsonl`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := store.CheckCollection(args[0]); err != nil {
				return usageError{err}
			}
			if len(args) == 2 && strings.TrimSpace(args[1]) == "" {
				return usagef("the document is empty; give JSON, or leave it out to read standard input")
			}
			if len(args) == 2 && strings.HasPrefix(strings.TrimSpace(args[1]), "[") {
				return usagef("an array is not a document; give its documents on standard input, one per line, as jq -c '.[]' writes them")
			}
			var in io.Reader
			if len(args) == 2 && args[1] != "-" {
				in = strings.NewReader(strings.ReplaceAll(args[1], "\n", " ")) // equivalent in JSON
			} else {
				in = std.stdin(cmd.Context(), "documents")
			}
			return using(cmd.Context(), where.openToWrite, func(s store.Store) error {
				w := insertion{s: s, collection: args[0], ordered: stop, asJSON: bool(asJSON), std: std, single: len(args) == 2 && args[1] != "-"}
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
	single     bool // the document is an argument and has no line
	std        streams

	stored  int
	refused bool
}

// run stores the documents in in: the lines that arrive while a batch is stored are the
// next one.
func (w *insertion) run(ctx context.Context, in io.Reader) error {
	for batch, err := range documents.Batches(ctx, in) {
		if err == nil {
			err = w.store(ctx, batch)
		}
		if errors.Is(err, errReported) {
			return err
		}
		if err != nil {
			return fmt.Errorf("insert, after %d documents stored: %w", w.stored, err)
		}
	}
	if w.refused {
		return errReported
	}
	return nil
}

// store stores a batch, prints its ids and reports the documents refused.
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
		place := fmt.Sprintf("line %d: ", l.Number)
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

// unreadable replaces a document that could not be read, so that the store refuses it
// in order.
type unreadable struct{ err error }

// MarshalBSON returns the error of the document.
func (u unreadable) MarshalBSON() ([]byte, error) { return nil, u.err }

// print writes the ids of the stored documents.
func (w *insertion) print(keys []store.Key) error {
	out := bufio.NewWriter(w.std.out)
	for _, key := range keys {
		if key.IsZero() {
			continue
		}
		w.stored++
		line, err := documents.KeyLine(key, w.asJSON)
		if err != nil {
			return err
		}
		_, _ = out.Write(line) // Flush returns the error
	}
	if err := out.Flush(); err != nil {
		// Not wrapped: EPIPE is a failure here, because documents remain unstored.
		return fmt.Errorf("print ids: %v", err)
	}
	return nil
}
