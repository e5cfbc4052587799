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
		Short: "Copy the file of a store while it is in use",
		Long: `Copy a store in a SQLite file to FILE, which must not exist. The copy is a store, too.
Other processes may go on using the store meanwhile. Do not use cp for that: a copy made
with cp while the store is in use may be damaged or lack the latest documents.`,
		Example: `  oid backup store-2026-11-21.db
  oid backup --store sqlite:app.db /backup/app.db`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return using(cmd.Context(), where.openToRead, func(s store.Store) error {
				b, ok := s.(interface {
					Backup(ctx context.Context, path string) error
				})
				if !ok {
					return usagef("the store is on a server; back it up with the database's own tool, such as pg_dump or mongodump")
				}
				err := b.Backup(cmd.Context(), args[0])
				if errors.Is(err, fs.ErrExist) {
					err = fmt.Errorf("%w; name a file that does not exist yet", err)
				}
				return err
			})
		},
	}
	where.addFlag(cmd)
	return cmd
}
