package main

import (
	"io"

	"github.com/spf13/cobra"
)

// shells are those that a completion script can be written for.
var shells = forms[func(root *cobra.Command, w io.Writer) error]{
	{"bash", func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
	{"zsh", (*cobra.Command).GenZshCompletion},
	{"fish", func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }},
	{"powershell", (*cobra.Command).GenPowerShellCompletionWithDesc},
}

func newCompletionCommand(std streams) *cobra.Command {
	return &cobra.Command{
		Use:   "completion {bash|zsh|fish|powershell}",
		Short: "Write a shell's completion script",
		Long:  "Write a script that teaches the shell to complete oid's commands and flags.",
		Example: `  source <(oid completion bash)
  oid completion fish > ~/.config/fish/completions/oid.fish`,
		Args:                  cobra.ExactArgs(1),
		ValidArgs:             shells.list(),
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			write, err := shells.find("completion", args[0])
			if err != nil {
				return err
			}
			return write(cmd.Root(), std.out)
		},
	}
}
