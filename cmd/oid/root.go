package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/objectid"
)

// newRoot returns the command tree, and a bool that is set once a subcommand has
// begun its work: an error before that is one of usage.
func newRoot(std streams) (root *cobra.Command, started *bool) {
	root = &cobra.Command{
		Use:           "oid",
		Short:         "Create, read and trace MongoDB ObjectIds",
		Version:       thisVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(std.in)
	root.SetErr(std.err)
	root.DisableSuggestions = true // unknownCommand makes them, in one line
	root.SetFlagErrorFunc(flagError)
	for _, group := range []struct {
		name     string
		commands []*cobra.Command
	}{
		{"Ids", []*cobra.Command{newNewCommand(std), newInspectCommand(std), newAnnotateCommand(std), newRangeCommand(std), newSQLCommand(std), newSealCommand(std), newOpenCommand(std), newOddsCommand(std)}},
		{"Documents", []*cobra.Command{newInsertCommand(std), newGetCommand(std), newFindCommand(std), newDeleteCommand(std)}},
		{"Processes", []*cobra.Command{newPsCommand(std), newTraceCommand(std), newAgentCommand(std), newAdoptCommand(std), newPruneCommand(std)}},
		{"Collections", []*cobra.Command{newCensusCommand(std), newCollectionsCommand(std), newBackupCommand()}},
		{"Locks", []*cobra.Command{newLockCommand(std)}},
		{"Server", []*cobra.Command{newServeCommand(std)}},
	} {
		root.AddGroup(&cobra.Group{ID: group.name, Title: group.name + ":"})
		for _, c := range group.commands {
			c.GroupID = group.name
			root.AddCommand(c)
		}
	}
	root.AddCommand(newTopics()...)
	root.SetHelpCommand(newHelpCommand())
	started = new(bool)
	for _, c := range root.Commands() {
		if check := c.Args; check != nil {
			c.Args = func(cmd *cobra.Command, args []string) error {
				if err := check(cmd, args); err != nil {
					return fmt.Errorf("%w; write %s", err, cmd.UseLine())
				}
				return nil
			}
		}
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		err := noEmptyFlag(cmd)
		*started = err == nil
		if err == nil && os.Getenv("OID_VMCLOCK") != "" {
			_, err = objectid.NewGenerator(nil) // objectid.New would panic for a file that cannot be used
		}
		return err
	}
	return root, started
}
