package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/store"
)

const deleteHelp = `Delete the documents with these IDs, or the documents that were created in a time
range, and print how many were deleted. Documents whose _id is not an ObjectId have no
creation time: only --all or their ID deletes them. The command says how many there are.

--all deletes all documents of the collection. It needs --yes; without --yes the command
only says how many documents there are.

` + docIDHelp

func newDeleteCommand(std streams) *cobra.Command {
	var (
		where  storeFlag
		times  timeRange
		all    bool
		yes    bool
		asJSON jsonFlag
	)
	cmd := &cobra.Command{
		Use:   "delete COLLECTION {ID... | --since D | --from TIME | --to TIME | --all}",
		Short: "Delete documents by _id or by creation time",
		Long:  deleteHelp,
		Example: `  oid delete events 6592008029c8c3e4dc76256c
  oid delete events --to -30d`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			collection, ids, err := parseNames(args)
			if err != nil {
				return err
			}
			ways := 0
			for _, given := range []bool{len(ids) > 0, times.given(), all} {
				if given {
					ways++
				}
			}
			if ways != 1 {
				return usagef("say which documents to delete: give either IDs, or a time range with --since, --from or --to, or --all")
			}
			r, err := times.keys()
			if err != nil {
				return err
			}
			return using(cmd.Context(), where.openToDelete, func(s store.Store) error {
				if all && !yes {
					return needYes(cmd.Context(), s, collection)
				}
				var n int64
				var err error
				if len(ids) > 0 {
					n, err = deleteIDs(cmd, std, s, collection, ids)
				} else {
					n, err = s.DeleteRange(cmd.Context(), collection, r)
				}
				if err == nil {
					times.leftOut(cmd.Context(), std, s, collection)
				}
				return errors.Join(err, asJSON.emit(std.out, wire.Deleted{Documents: n}, textf("%d\n", n)))
			})
		},
	}
	where.addFlag(cmd)
	times.addFlags(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "delete all documents of the collection; needs --yes")
	cmd.Flags().BoolVar(&yes, "yes", false, "confirm --all")
	asJSON.addFlag(cmd, jsonObject)
	return cmd
}

// needYes returns an error that says how many documents --all --yes would delete. If the
// collection does not exist, because its name is mistyped for example, the error says so.
func needYes(ctx context.Context, s store.Store, collection string) error {
	n, err := s.Count(ctx, collection, store.Range{})
	if n == 0 && err == nil {
		err = missing(ctx, s, collection)
	}
	if err != nil {
		return err
	}
	return usagef("to delete all documents of collection %s (%s), add --yes", collection, phrase.Count(n, "document", "documents"))
}

// deleteIDs deletes the documents with these ids one by one, and reports ids that no document
// has.
func deleteIDs(cmd *cobra.Command, std streams, s store.Store, collection string, ids []docID) (n int64, err error) {
	for _, id := range ids {
		switch e := id.delete(cmd.Context(), s, collection); {
		case e == nil:
			n++
		case errors.Is(e, store.ErrNotFound), errors.Is(e, store.ErrKey):
			std.warn("%v", id.explain(cmd.Context(), s, collection, e))
			err = errReported
		default:
			return n, e
		}
	}
	return n, err
}
