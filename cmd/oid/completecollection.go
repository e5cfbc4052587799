package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
)

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
