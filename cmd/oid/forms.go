package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/objectid"
)

// layouts are the layouts of ids by name.
var layouts = formsOf(objectid.Layouts, objectid.Layout.String)

// forms are named values, among which a flag chooses.
type forms[T any] []form[T]

type form[T any] struct {
	name  string
	value T
}

// formsOf returns values under the names that name returns.
func formsOf[T any](values []T, name func(T) string) (all forms[T]) {
	for _, v := range values {
		all = append(all, form[T]{name(v), v})
	}
	return all
}

// stringForms returns the values of an enumeration, which are their own names.
func stringForms[T ~string](values []T) forms[T] {
	return formsOf(values, func(v T) string { return string(v) })
}

// find returns the form called name, or a usage error that lists them all. what
// is the flag or argument that named it.
func (f forms[T]) find(what, name string) (T, error) {
	for _, form := range f {
		if form.name == name {
			return form.value, nil
		}
	}
	var none T
	return none, usagef("%s %q: want one of %s", what, name, f.names())
}

func (f forms[T]) names() string { return strings.Join(f.list(), ", ") }

func (f forms[T]) list() []string {
	names := make([]string, len(f))
	for i, form := range f {
		names[i] = form.name
	}
	return names
}

// complete offers the names to the shell's completion of cmd's flag.
func (f forms[T]) complete(cmd *cobra.Command, flag string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(f.list(), cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag does not exist: a mistake in the command
	}
}
