package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/oidkit/oid/internal/engine"
	"github.com/oidkit/oid/store"
)

func newDropCommand(std streams) *cobra.Command {
	var (
		where storeFlag
		yes   bool
	)
	cmd := &cobra.Command{
		Use:   "drop COLLECTION",
		Short: "Remove a collection and its documents",
		Long: `Remove a collection and all its documents from a store. The command asks first,
and needs --yes where it cannot ask.

` + storeHelp,
		Example: `  oid drop events
  oid drop events --yes`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: where.completeCollection,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := engine.CheckCollection(args[0]); err != nil {
				return usageError{err}
			}
			s, err := where.openToDelete(cmd.Context())
			if err != nil {
				return err
			}
			if !yes {
				err = confirmDrop(cmd, std, s, args[0])
			}
			if err == nil {
				err = s.Drop(cmd.Context(), args[0])
			}
			return errors.Join(err, s.Close())
		},
	}
	where.addFlag(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// confirmDrop asks on the terminal, and returns an error unless the answer is yes.
func confirmDrop(cmd *cobra.Command, std streams, s store.Store, collection string) error {
	if f, ok := std.in.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return usagef("standard input is not a terminal, so oid cannot ask; give --yes to drop collection %s", collection)
	}
	n, err := s.Count(cmd.Context(), collection, store.Range{})
	if err != nil {
		return err
	}
	fmt.Fprintf(std.err, "Drop collection %s with %d documents? [y/N] ", collection, n)
	answer, err := readAnswer(cmd, std)
	if err != nil {
		return err
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return fmt.Errorf("collection %s is not dropped", collection)
	}
	return nil
}

// readAnswer reads a line, until the command is interrupted.
func readAnswer(cmd *cobra.Command, std streams) (string, error) {
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(std.in).ReadString('\n') // the end of the input is a no
		line <- text
	}()
	select {
	case text := <-line:
		return text, nil
	case <-cmd.Context().Done():
		return "", cmd.Context().Err()
	}
}
