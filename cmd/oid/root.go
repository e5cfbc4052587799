package main

import (
	"github.com/spf13/cobra"
)

// newRoot returns the command tree, and a bool that is set once a subcommand has
// begun its work: an error before that is one of usage.
func newRoot(std streams) (root *cobra.Command, started *bool) {
	root = &cobra.Command{
		Use:           "oid",
		Short:         "Make, read and trace MongoDB ObjectIds",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(std.in)
	root.SetErr(std.err)
	root.CompletionOptions.DisableDefaultCmd = true // newCompletionCommand takes its place
	root.AddCommand(
		newCensusCommand(std),
		newCollectionsCommand(std),
		newCompletionCommand(std),
		newDeleteCommand(std),
		newFindCommand(std),
		newGetCommand(std),
		newHistoryCommand(std),
		newInsertCommand(std),
		newInspectCommand(std),
		newJoinCommand(std),
		newLockCommand(std),
		newNewCommand(std),
		newOddsCommand(std),
		newPruneCommand(std),
		newPsCommand(std),
		newRangeCommand(std),
		newServeCommand(std),
		newTraceCommand(std),
		newVersionCommand(std),
	)
	started = new(bool)
	for _, c := range root.Commands() {
		if work := c.RunE; work != nil {
			c.RunE = func(cmd *cobra.Command, args []string) error {
				*started = true
				return work(cmd, args)
			}
		}
	}
	return root, started
}
