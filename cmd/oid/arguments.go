package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oidkit/oid/store"
)

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no argument: %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// noEmptyFlag refuses a flag with an empty value: it comes from a variable of the
// shell that was never set, and must not count as a flag that was not given. A flag
// without a value takes the -- after it for one.
func noEmptyFlag(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() != "string" {
			return
		}
		switch strings.TrimSpace(f.Value.String()) {
		case "":
			err = usagef("--%s is empty; give it a value or leave it out", f.Name)
		case "--":
			err = usagef("--%s needs a value before --", f.Name)
		}
	})
	return err
}

// flagError says what is wrong with a flag, in the words of other errors of usage.
func flagError(cmd *cobra.Command, err error) error {
	unknown, bad := (*pflag.NotExistError)(nil), (*pflag.InvalidValueError)(nil)
	switch {
	case errors.As(err, &unknown):
		hint := ""
		if unknown.GetSpecifiedShortnames() == "" {
			var flags []string
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				if !f.Hidden {
					flags = append(flags, f.Name)
				}
			})
			hint = didYouMean(unknown.GetSpecifiedName(), flags, "--")
		}
		if hint == "" && strings.HasSuffix(cmd.Use, " -- COMMAND [ARG...]") {
			hint = "; flags of the command come after --"
		}
		return fmt.Errorf("%w%s", err, hint)
	case errors.As(err, &bad):
		cause := errors.Unwrap(bad).Error()
		switch bad.GetFlag().Value.Type() {
		case "bool":
			cause = "want no value, or true or false"
		case "int", "int64":
			cause = "want a whole number"
		case "duration":
			cause = "want a number with a unit, such as 500ms, 10s or 1h30m"
		}
		return usagef("--%s %s: %s", bad.GetFlag().Name, printable(bad.GetValue()), cause)
	}
	return err
}

// didYouMean returns which of the names, each after a prefix, may be meant by a word, as
// the end of a message; nothing if none is similar.
func didYouMean(word string, names []string, prefix string) string {
	all := cobra.Command{SuggestionsMinimumDistance: 2}
	for _, name := range names {
		all.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	similar := all.SuggestionsFor(word)
	if len(similar) == 0 {
		return ""
	}
	return "; did you mean " + prefix + strings.Join(similar, " or "+prefix) + "?"
}

// unknownCommand adds to the error of a command that does not exist which one may be meant.
func unknownCommand(root *cobra.Command, err error) error {
	var word string
	if _, other := fmt.Sscanf(err.Error(), "unknown command %q", &word); other != nil {
		return err
	}
	return fmt.Errorf("%w%s", err, didYouMean(word, commandNames(root), ""))
}

// commandNames returns the names of all commands and topics.
func commandNames(root *cobra.Command) (names []string) {
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}

// parseNames reads the collection and the keys on a command line. Its errors are
// usage errors.
func parseNames(args []string) (collection string, keys []store.Key, err error) {
	if err := store.CheckCollection(args[0]); err != nil {
		return "", nil, usageError{err}
	}
	for _, arg := range args[1:] {
		key, err := store.ParseKey(arg)
		if err != nil {
			return "", nil, usageError{err}
		}
		keys = append(keys, key)
	}
	return args[0], keys, nil
}
