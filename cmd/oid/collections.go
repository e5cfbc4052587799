package main

import (
	"bufio"

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
