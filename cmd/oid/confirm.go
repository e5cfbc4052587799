package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/store"
)

// confirm asks on the terminal whether to do something, in words such as "drop", to a
// collection. It returns an error unless the answer is yes.
func confirm(cmd *cobra.Command, std streams, s store.Store, what, collection string) error {
	if f, ok := std.in.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return usagef("standard input is not a terminal, so oid cannot ask; give --yes to %s collection %s", what, collection)
	}
	n, err := s.Count(cmd.Context(), collection, store.Range{})
	if err != nil {
		return err
	}
	fmt.Fprintf(std.err, "%s%s collection %s (%s)? [y/N] ", strings.ToUpper(what[:1]), what[1:], collection, phrase.Count(n, "document", "documents"))
	answer, _ := bufio.NewReader(interruptible(cmd.Context(), std.in)).ReadString('\n') // the end of the input is a no
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return fmt.Errorf("the answer is not yes: collection %s stays as it is", collection)
	}
	return nil
}
