package main

import (
	"github.com/spf13/cobra"

	"github.com/oidkit/oid/store"
)

func newDropCommand(std streams) *cobra.Command {
	var (
		where storeFlag
		yes   bool
	)
	cmd := &cobra.Command{
		Use:   "drop COLLECTION",
		Short: "Remove a collection and its documents",
		Long: `Remove a collection and all its documents from a store. The command asks first,
and needs --yes where it cannot ask.`,
		Example: `  oid drop events
  oid drop events --yes`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := store.CheckCollection(args[0]); err != nil {
				return usageError{err}
			}
			return using(cmd.Context(), where.openToDelete, func(s store.Store) error {
				if !yes {
					if err := confirm(cmd, std, s, "drop", args[0]); err != nil {
						return err
					}
				}
				return s.Drop(cmd.Context(), args[0])
			})
		},
	}
	where.addFlag(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}
