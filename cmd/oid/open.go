package main

import (
	"context"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/server/wire"
)

func newOpenCommand(std streams) *cobra.Command {
	var (
		how    sealFlags
		asJSON jsonFlag
	)
	cmd := &cobra.Command{
		Use:   "open [SEALED...]",
		Short: "Turn sealed ids back into ids",
		Long: `Write the ObjectId of each sealed id that "oid seal" wrote. Sealed ids are arguments, or
the lines of standard input if there are none. One that begins with a hyphen goes after
"--".

` + sealHelp + `

Exit code 1 means that at least one sealed id does not open: it was changed, or is of
another kind, form or key. All others are opened.`,
		Example: `  oid open --kind order --prefix order_ --key-file seal.key order_75YZjCYiI-4GQ2eafPOyiw`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := how.sealer()
			if err != nil {
				return err
			}
			var failed error
			for place, text := range sealedIDs(cmd.Context(), std, args, &failed) {
				id, err := s.Open(text)
				if err != nil {
					failed = errReported
					std.warn("%s: %v", place, err)
					continue
				}
				if err := asJSON.emit(std.out, wire.SealedID{ID: id, Sealed: text}, textf("%v\n", id)); err != nil {
					return err
				}
			}
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			return failed
		},
	}
	how.addFlags(cmd)
	asJSON.addFlag(cmd, jsonObjects)
	return cmd
}

// sealedIDs yields args with their places, or the lines of standard input if there are
// none. It sets err if that cannot be read.
func sealedIDs(ctx context.Context, std streams, args []string, err *error) iter.Seq2[string, string] {
	return func(yield func(place, text string) bool) {
		for i, arg := range args {
			if !yield(fmt.Sprintf("argument %d", i+1), arg) {
				return
			}
		}
		if len(args) > 0 {
			return
		}
		for n, text := range inputLines(ctx, std, "sealed ids", err) {
			if !yield(fmt.Sprintf("line %d", n), text) {
				return
			}
		}
	}
}
