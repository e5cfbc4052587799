package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

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
