package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// newRoot returns the command tree, and a bool that is set once a subcommand has
// begun its work: an error before that is one of usage.
func newRoot(std streams) (root *cobra.Command, started *bool) {
	root = &cobra.Command{
		Use:           "oid",
		Short:         "Create, read and trace MongoDB ObjectIds",
		Version:       thisVersion().Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(std.in)
	root.SetErr(std.err)
	root.DisableSuggestions = true // unknownCommand makes them, in one line
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.DisableDefaultCmd = true // newCompletionCommand replaces it
	for _, group := range []struct {
		name     string
		commands []*cobra.Command
	}{
		{"Ids", []*cobra.Command{newNewCommand(std), newInspectCommand(std), newAnnotateCommand(std), newVerifyCommand(std), newRangeCommand(std), newSQLCommand(std), newSealCommand(std), newOpenCommand(std), newOddsCommand(std)}},
		{"Documents", []*cobra.Command{newInsertCommand(std), newGetCommand(std), newFindCommand(std), newDeleteCommand(std)}},
		{"Processes", []*cobra.Command{newPsCommand(std), newTraceCommand(std), newHistoryCommand(std), newAgentCommand(std), newAdoptCommand(std), newPruneCommand(std)}},
		{"Collections", []*cobra.Command{newCensusCommand(std), newCollectionsCommand(std), newDropCommand(), newBackupCommand()}},
		{"Locks", []*cobra.Command{newLockCommand(std)}},
		{"Server", []*cobra.Command{newServeCommand(std)}},
	} {
		root.AddGroup(&cobra.Group{ID: group.name, Title: group.name + ":"})
		for _, c := range group.commands {
			c.GroupID = group.name
			root.AddCommand(c)
		}
	}
	root.AddCommand(newCompletionCommand(std), newVersionCommand(std))
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
		return err
	}
	return root, started
}

// shells are the shells with a completion script.
var shells = forms[func(root *cobra.Command, w io.Writer) error]{
	{"bash", writeBashCompletion},
	{"zsh", (*cobra.Command).GenZshCompletion},
	{"fish", func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }},
	{"powershell", (*cobra.Command).GenPowerShellCompletionWithDesc},
}

func newCompletionCommand(std streams) *cobra.Command {
	return &cobra.Command{
		Use:   "completion {bash|zsh|fish|powershell}",
		Short: "Write a completion script for a shell",
		Long:  `Write a script with which the shell completes the commands and flags of oid.`,
		Example: `  source <(oid completion bash)
  oid completion fish > ~/.config/fish/completions/oid.fish`,
		Args:                  cobra.ExactArgs(1),
		ValidArgs:             shells.list(),
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			write, err := shells.find(args[0])
			if err != nil {
				return usagef("completion %q: %w", args[0], err)
			}
			return write(cmd.Root(), std.out)
		},
	}
}

func newVersionCommand(std streams) *cobra.Command {
	var asJSON jsonFlag
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := thisVersion()
			return asJSON.emit(std.out, v, textf("oid %s %s %s/%s\n", v.Version, v.Go, v.OS, v.Arch))
		},
	}
	asJSON.addFlag(cmd, jsonObject)
	return cmd
}

// bashWords is the line of cobra's script that needs the package bash-completion.
const bashWords = `    _get_comp_words_by_ref "$@" cur prev words cword` + "\n"

// bashOwnWords does the same without it. Bash divides a line also at the characters = and
// :, which are within URLs, times and flags; what the line has without a blank between is
// one word.
const bashOwnWords = `    local line=$COMP_LINE i word
    words=() cword=0
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
        word=${COMP_WORDS[i]}
        if ((i > 0)) && [[ $word != "" && $line == "$word"* && (${words[${#words[@]}-1]} == *[=:] || $word == [=:]*) ]]; then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
        line=${line#*"$word"}
        ((i == COMP_CWORD)) && cword=$((${#words[@]} - 1))
    done
    cur=${words[cword]} prev=
    ((cword == 0)) || prev=${words[cword-1]}
`

// writeBashCompletion writes the script of cobra, changed to work without the package
// bash-completion, which many systems and containers do not have.
func writeBashCompletion(root *cobra.Command, w io.Writer) error {
	var script bytes.Buffer
	if err := root.GenBashCompletionV2(&script, true); err != nil {
		return err
	}
	if bytes.Count(script.Bytes(), []byte(bashWords)) != 1 {
		return fmt.Errorf("the completion script of cobra has changed")
	}
	_, err := w.Write(bytes.Replace(script.Bytes(), []byte(bashWords), []byte(bashOwnWords), 1))
	return err
}
