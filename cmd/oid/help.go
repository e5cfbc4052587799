package main

import (
	"cmp"
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
			hint := cmp.Or(didYouMean(args[0], commandNames(cmd.Root()), ""), `; "oid help" lists them`)
			return exitError{exitUsage, fmt.Errorf("there is no command or topic %q%s", strings.Join(args, " "), hint)}
		},
	}
}

const exitCodesHelp = `The exit codes of all commands:
  0    done
  1    failed, or at least one bad id, document or line; the others are done; also if a
       collection or table that is read does not exist
  2    wrong use
  130  ended by Ctrl-C (SIGINT); 143 by SIGTERM

"oid lock" returns the exit code of its command or of --skipped. If a signal ends the
command, it returns 128 plus the number of the signal, as shells do. Otherwise it returns
  111  oid itself failed: for example Redis did not answer, so that nobody knows
       whether the lock is free
  112  somebody else held the lock, and it was not free in time (--wait)
  113  the lock was lost before its release
  114  the command was ended because it ran longer than --max
  126  the command cannot be run
  127  there is no such command
With --status, --list and --break, it returns 0, or 1 if it failed.`

// newTopics returns the topics of help: what concerns several commands, and the details
// of those whose help would be long.
func newTopics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "times", Short: "How to write times and time ranges", Long: rangeHelp + "\n\n" + timeHelp + "\n\n" + zoneHelp},
		{Use: "urls", Short: "URLs of stores and of locks", Long: storeHelp + "\n\n" + locksHelp},
		{Use: "exit-codes", Short: "What the exit codes mean", Long: exitCodesHelp},
		{Use: "census-sources", Short: "What a census reads", Long: censusSourcesHelp},
		{Use: "census-report", Short: "What a census reports", Long: censusReportHelp},
		{Use: "lock-command", Short: "How a command runs under a lock", Long: lockCommandHelp},
		{Use: "lock-ticks", Short: "Run a job on only one of several hosts", Long: onceHelp},
		{Use: "lock-slots", Short: "Locks with several holders", Long: slotsHelp},
		{Use: "lock-break", Short: "Free a lock in place of its holder", Long: breakHelp},
	}
}
