package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

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
