package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
		newBackupCommand(std),
		newCensusCommand(std),
		newCollectionsCommand(std),
		newCompletionCommand(std),
		newDeleteCommand(std),
		newDropCommand(std),
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
				if err := noEmptyFlag(cmd); err != nil {
					return err
				}
				*started = true
				return work(cmd, args)
			}
		}
	}
	return root, started
}

// noEmptyFlag refuses a flag that was given the empty text: that is a variable of
// the shell which was never set, and must not pass for a flag that was not given.
func noEmptyFlag(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && strings.TrimSpace(f.Value.String()) == "" {
			err = usagef("--%s is empty; give it a value or leave it out", f.Name)
		}
	})
	return err
}
