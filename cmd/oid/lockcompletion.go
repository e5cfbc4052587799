package main

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/lock"
)

// completeLock completes the name of a lock by those that are held.
func (f *locksFlag) completeLock(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	complete := suggest(f.held)
	if status, _ := cmd.Flags().GetBool("status"); !status { // which takes several names
		complete = firstArgument(complete)
	}
	return complete(cmd, args, word)
}

// held returns the names of the locks that are held. It creates nothing.
func (f *locksFlag) held(ctx context.Context, cmd *cobra.Command) (names []string, err error) {
	engine, url, err := f.engine(cmd)
	if err != nil {
		return nil, err
	}
	if missing, err := missingPlace(url); err != nil || missing != "" {
		return nil, err
	}
	l, err := engine.open(ctx, streams{out: io.Discard, err: io.Discard}, url, lock.DefaultTTL)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	all, err := l.List(ctx)
	for _, s := range all {
		names = append(names, printable(withoutSlot(s.Name)))
	}
	slices.Sort(names)
	return slices.Compact(names), err
}
