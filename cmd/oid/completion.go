package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/registry"
)

// completionWait is how long a shell waits for the names of collections, processes and
// locks.
const completionWait = 2 * time.Second

// suggestions are what a shell offers in place of a word, and nothing else: where the
// names cannot be had, it offers nothing.
type suggestions = func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective)

// suggest returns the names that find returns within completionWait.
func suggest(find func(context.Context, *cobra.Command) ([]string, error)) suggestions {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, stop := context.WithTimeout(cmd.Context(), completionWait)
		defer stop()
		names, err := find(ctx, cmd)
		if err != nil {
			names = nil
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// first completes the first argument only.
func first(complete suggestions) suggestions {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, word)
	}
}

// completeFlag has the value of a flag of cmd completed.
func completeFlag(cmd *cobra.Command, flag string, complete suggestions) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // the flag does not exist: a mistake in the command
	}
}

// completeScheme completes a URL by its scheme.
func completeScheme(schemes []string) suggestions {
	var begins []cobra.Completion
	for _, scheme := range schemes {
		begins = append(begins, scheme+":")
	}
	return cobra.FixedCompletions(begins, cobra.ShellCompDirectiveNoSpace)
}

// completeCollection completes the first argument of a command, the name of a
// collection, from the store.
func (f *storeFlag) completeCollection(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return first(suggest(func(ctx context.Context, _ *cobra.Command) ([]string, error) { return f.collections(ctx) }))(cmd, args, word)
}

// collections returns the names of collections without those of the registry, which
// nobody reads by hand.
func (f *storeFlag) collections(ctx context.Context) ([]string, error) {
	s, err := f.openToRead(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	names, err := s.Collections(ctx)
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "oid.") }), err
}

// completeSource completes a source of a census: a collection after "store:", else a
// file.
func (f *storeFlag) completeSource(cmd *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if !strings.HasPrefix(word, "store:") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return suggest(func(ctx context.Context, _ *cobra.Command) ([]string, error) {
		names, err := f.collections(ctx)
		for i := range names {
			names[i] = "store:" + names[i]
		}
		return names, err
	})(cmd, nil, word)
}

// maxSuggested is how many living, and how many other processes are suggested.
const maxSuggested = 100

// completeProcess completes what a field returns of the recorded processes: first of those
// that live, then of those that ended last.
func (f *storeFlag) completeProcess(field func(registry.Status) string) suggestions {
	return suggest(func(ctx context.Context, _ *cobra.Command) (found []string, err error) {
		r, s, err := f.openRegistry(ctx)
		if err != nil {
			return nil, err
		}
		defer closing(s, &err)
		for _, states := range [][]registry.State{{registry.Alive, registry.Late}, {registry.Dead, registry.Ended}} {
			page, err := r.Page(ctx, registry.Query{States: states, Limit: maxSuggested})
			if err != nil {
				return nil, err
			}
			for _, p := range page.Processes {
				if text := field(p); text != "" && !slices.Contains(found, text) {
					found = append(found, text)
				}
			}
		}
		return found, nil
	})
}

// gpidOf is the identity of a process, with its name and state for shells that show them.
func gpidOf(p registry.Status) string {
	return cobra.CompletionWithDesc(p.GPID.String(), fmt.Sprintf("%s, %s", printable(p.Name), p.State))
}

// completeLock completes the name of a lock by those that are held.
func (f *locksFlag) completeLock(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	complete := suggest(f.held)
	if status, _ := cmd.Flags().GetBool("status"); !status { // which takes several names
		complete = first(complete)
	}
	return complete(cmd, args, word)
}

// held returns the names of the locks that are held. It creates nothing.
func (f *locksFlag) held(ctx context.Context, cmd *cobra.Command) (names []string, err error) {
	engine, url, err := f.engine(cmd)
	if err != nil {
		return nil, err
	}
	path, inFile := strings.CutPrefix(url, "sqlite:")
	if strings.HasPrefix(url, "file:") {
		inFile = true
		if path, err = lockFolder(url); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(path); inFile && errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := engine.open(ctx, streams{out: io.Discard, err: io.Discard}, url, lock.DefaultTTL)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	all, err := l.List(ctx)
	for _, s := range all {
		names = append(names, printable(withoutSlot(s.Name)))
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// zoneTables are the files in which systems list the names of time zones.
var zoneTables = []string{"/usr/share/zoneinfo/zone.tab", "/usr/share/lib/zoneinfo/tab/zone_sun.tab", "/etc/zoneinfo/zone.tab"}

// zoneNames returns the names of time zones that the system lists.
func zoneNames(context.Context, *cobra.Command) ([]string, error) {
	names := []string{"UTC", "local"}
	for _, table := range zoneTables {
		text, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 2 && !strings.HasPrefix(line, "#") {
				names = append(names, f[2])
			}
		}
		break
	}
	slices.Sort(names)
	return names, nil
}
