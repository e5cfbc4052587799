package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newHelpCommand replaces the one of cobra, which reports no error for a command that does
// not exist.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command or topic",
		Long:  `Show the help of a command or topic, as "oid COMMAND --help" does.`,
		Example: `  oid help range
  oid help times`,
		DisableFlagsInUseLine: true,
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return commandNames(cmd.Root()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err == nil && len(rest) == 0 {
				about.InitDefaultHelpFlag()
				about.InitDefaultVersionFlag()
				return about.Help()
			}
			hint := didYouMean(args[0], commandNames(cmd.Root()), "")
			if hint == "" {
				hint = `; "oid help" lists them`
			}
			return exitError{exitUsage, fmt.Errorf("there is no command or topic %q%s", strings.Join(args, " "), hint)}
		},
	}
}
