package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/store"
)

func newBackupCommand(std streams) *cobra.Command {
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
