package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no argument: %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// filesOf returns the files that the arguments of a command name, or - if there are none. On
// Windows, whose shells leave patterns to programs, it replaces patterns by the files that match.
// No file there has * or ? in its name.
func filesOf(names []string) (all []string, err error) {
	if len(names) == 0 {
		return []string{"-"}, nil
	}
	for _, name := range names {
		if runtime.GOOS != "windows" || !strings.ContainsAny(name, "*?") || strings.Contains(name, "://") {
			all = append(all, name)
			continue
		}
		found, err := filepath.Glob(strings.ReplaceAll(name, "[", "[[]"))
		if err == nil && len(found) == 0 {
			err = errors.New("no file matches")
		}
		if err != nil {
			return nil, usagef("%s: %w", name, err)
		}
		all = append(all, found...)
	}
	return all, nil
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

// renamedFlags say what replaces a flag of earlier commits.
var renamedFlags = map[string]string{
	"lock --elsewhere": "; write --skipped CODE, which prints nothing, and see oid lock --status NAME for the host",
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
			hint = cmp.Or(didYouMean(unknown.GetSpecifiedName(), flags, "--"), renamedFlags[cmd.Name()+" --"+unknown.GetSpecifiedName()])
		}
		if hint == "" && strings.HasSuffix(cmd.Use, " -- COMMAND [ARG...]") {
			hint = "; flags of the command come after --"
		}
		return fmt.Errorf("%w%s", err, hint)
	case errors.As(err, &bad):
		cause, value := errors.Unwrap(bad).Error(), phrase.Shown(bad.GetValue())
		switch bad.GetFlag().Value.Type() {
		case "string": // one of some forms
			value = strconv.Quote(value)
		case "bool":
			cause = "want no value, or true or false"
		case "int", "int64":
			cause = "want a whole number"
		case "duration":
			cause = "want a number with a unit, such as 500ms, 10s or 1h30m"
		}
		return usagef("--%s %s: %s", bad.GetFlag().Name, value, cause)
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

// parseNames reads the collection and the ids of documents on a command line. Its errors are
// usage errors.
func parseNames(args []string) (collection string, ids []docID, err error) {
	if err := store.CheckCollection(args[0]); err != nil {
		return "", nil, usageError{err}
	}
	for _, arg := range args[1:] {
		id, err := parseDocID(arg)
		if err != nil {
			return "", nil, usageError{err}
		}
		ids = append(ids, id)
	}
	return args[0], ids, nil
}

// layouts are the layouts of ids by name.
var layouts = formsOf(objectid.Layouts(), objectid.Layout.String)

// forms are named values, among which a flag chooses.
type forms[T any] []form[T]

type form[T any] struct {
	name  string
	value T
}

// formsOf returns values under the names that name returns.
func formsOf[T any](values []T, name func(T) string) forms[T] {
	return each.Of(values, func(v T) form[T] { return form[T]{name(v), v} })
}

// stringForms returns the values of an enumeration, which are their own names.
func stringForms[T ~string](values []T) forms[T] {
	return formsOf(values, func(v T) string { return string(v) })
}

// find returns the form called name.
func (f forms[T]) find(name string) (none T, _ error) {
	for _, one := range f {
		if one.name == name {
			return one.value, nil
		}
	}
	return none, fmt.Errorf("want one of %s", f.names())
}

func (f forms[T]) names() string { return strings.Join(f.list(), ", ") }

func (f forms[T]) list() []string { return each.Of(f, func(one form[T]) string { return one.name }) }

// addFlag adds a flag to cmd that chooses value among the forms. Its usage lists them, and
// the shell completes them. Without the flag it is the one called byDefault, or the zero
// value for none.
func (f forms[T]) addFlag(cmd *cobra.Command, value *T, flag, byDefault, usage string) {
	c := &choice[T]{forms: f, value: value}
	_ = c.Set(byDefault)
	cmd.Flags().Var(c, flag, usage+": "+f.names())
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(f.list(), cobra.ShellCompDirectiveNoFileComp))
}

// choice is a flag that chooses among forms. It implements pflag.Value.
type choice[T any] struct {
	forms  forms[T]
	chosen string
	value  *T
}

func (c *choice[T]) String() string { return c.chosen }

func (c *choice[T]) Type() string { return "string" }

func (c *choice[T]) Set(name string) (err error) {
	*c.value, err = c.forms.find(name)
	c.chosen = name
	return err
}
