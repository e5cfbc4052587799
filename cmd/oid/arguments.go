package main

import (
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
// shell that was never set, and must not count as a flag that was not given.
func noEmptyFlag(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && strings.TrimSpace(f.Value.String()) == "" {
			err = usagef("--%s is empty; give it a value or leave it out", f.Name)
		}
	})
	return err
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
