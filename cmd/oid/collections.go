package main

import (
	"bufio"
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/server/wire"
)

func newCollectionsCommand(std streams) *cobra.Command {
	var (
		where  storeFlag
		asJSON jsonFlag
	)
	cmd := &cobra.Command{
		Use:   "collections",
		Short: "List the collections of a store",
		Long:  "List the names of the collections of a store, one per line.\n\n" + storeHelp,
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := where.openToRead(cmd.Context())
			if err != nil {
				return err
			}
			defer s.Close()
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
		},
	}
	where.addFlag(cmd)
	asJSON.addFlag(cmd, jsonObjects)
	return cmd
}

// completionWait is how long a shell waits for the names of collections.
const completionWait = 2 * time.Second

// completeCollection completes the first argument of a command, the name of a
// collection, from the store. Without a store there is nothing to suggest.
func (f *storeFlag) completeCollection(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, stop := context.WithTimeout(cmd.Context(), completionWait)
	defer stop()
	s, err := f.openToRead(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer s.Close()
	names, err := s.Collections(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
