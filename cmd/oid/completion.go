package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
)

// completionWait is how long a shell waits for the names of collections, processes and
// locks.
const completionWait = 2 * time.Second

// suggestions are what a shell offers in place of a word, and nothing else: where the
// names cannot be had, it offers nothing.
type suggestions = func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective)

// suggest returns the names that find returns within completionWait.
func suggest(find func(context.Context, *cobra.Command) ([]string, error)) suggestions {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, stop := context.WithTimeout(cmd.Context(), completionWait)
		defer stop()
		names, err := find(ctx, cmd)
		if err != nil {
			names = nil
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// firstArgument completes the first argument only.
func firstArgument(complete suggestions) suggestions {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, word)
	}
}

// completeFlag has the value of a flag of cmd completed.
func completeFlag(cmd *cobra.Command, flag string, complete suggestions) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // the flag does not exist: a mistake in the command
	}
}

// completeScheme completes a URL by its scheme.
func completeScheme(schemes []string) suggestions {
	var begins []cobra.Completion
	for _, scheme := range schemes {
		begins = append(begins, scheme+":")
	}
	return cobra.FixedCompletions(begins, cobra.ShellCompDirectiveNoSpace)
}
