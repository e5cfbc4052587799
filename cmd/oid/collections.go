package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/store"
)

func newCollectionsCommand(std streams) *cobra.Command {
	var (
		where  storeFlag
		asJSON jsonFlag
	)
	cmd := &cobra.Command{
		Use:   "collections",
		Short: "List the collections of a store",
		Long:  "List the names of the collections of a store, one per line.",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return using(cmd.Context(), where.openToRead, func(s store.Store) error {
				names, err := s.Collections(cmd.Context())
				if err != nil {
					return err
				}
				out := bufio.NewWriter(std.out)
				for _, name := range names {
					if err := asJSON.emit(out, wire.Collection{Collection: name}, textf("%s\n", name)); err != nil {
						return err
					}
				}
				return out.Flush()
			})
		},
	}
	where.addFlag(cmd)
	asJSON.addFlag(cmd, jsonObjects)
	return cmd
}

func newDropCommand() *cobra.Command {
	var (
		where storeFlag
		yes   bool
	)
	cmd := &cobra.Command{
		Use:   "drop COLLECTION",
		Short: "Remove a collection and its documents",
		Long: `Remove a collection and all its documents from a store. Without --yes the command
only says how many these are.`,
		Example: `  oid drop events --yes`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := store.CheckCollection(args[0]); err != nil {
				return usageError{err}
			}
			return using(cmd.Context(), where.openToDelete, func(s store.Store) error {
				if !yes {
					return needYes(cmd.Context(), s, "drop", args[0])
				}
				return s.Drop(cmd.Context(), args[0])
			})
		},
	}
	where.addFlag(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "remove them")
	return cmd
}

// needYes returns an error that says what --yes would do to a collection, or that there is
// none: a name may be mistyped.
func needYes(ctx context.Context, s store.Store, what, collection string) error {
	n, err := s.Count(ctx, collection, store.Range{})
	if err != nil {
		return err
	}
	if n == 0 {
		names, err := s.Collections(ctx)
		if err != nil || !slices.Contains(names, collection) {
			return cmp.Or(err, fmt.Errorf("%w: no collection %q", store.ErrNotFound, collection))
		}
	}
	return usagef("give --yes to %s collection %s (%s)", what, collection, phrase.Count(n, "document", "documents"))
}

func newBackupCommand() *cobra.Command {
	var where storeFlag
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy a store's file while it is in use",
		Long: `Copy a store that is a SQLite file to FILE, which must not exist. The copy is a
store as well. Processes that use the store go on meanwhile. A copy made with cp
meanwhile may lack what was stored last, or be damaged.`,
		Example: `  oid backup store-2026-11-21.db
  oid backup --store sqlite:app.db /backup/app.db`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return using(cmd.Context(), where.openToRead, func(s store.Store) error {
				b, ok := s.(interface {
					Backup(ctx context.Context, path string) error
				})
				if !ok {
					return usagef("the store is a server's; use the database's own tool, mongodump or pg_dump")
				}
				err := b.Backup(cmd.Context(), args[0])
				if errors.Is(err, fs.ErrExist) {
					err = fmt.Errorf("%w; name a file that does not exist", err)
				}
				return err
			})
		},
	}
	where.addFlag(cmd)
	return cmd
}
