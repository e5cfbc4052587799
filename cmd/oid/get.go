package main

import (
	"bufio"
	"errors"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/cmd/oid/internal/documents"
	"github.com/oidkit/oid/store"
)

func newGetCommand(std streams) *cobra.Command {
	var where storeFlag
	cmd := &cobra.Command{
		Use:   "get COLLECTION [ID...]",
		Short: "Print documents by their _id",
		Long: `Print the documents with these _ids as Extended JSON, one per line and in this
order. Without an ID, the IDs are read from standard input, one per line.

An ID is 24 hexadecimal digits, or the JSON of a number or of a string, with its
quotes.`,
		Example: `  oid get events 6592008029c8c3e4dc76256c
  oid get users '"alice"' 17`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			collection, keys, err := parseNames(args)
			if err != nil {
				return err
			}
			return using(cmd.Context(), where.openToRead, func(s store.Store) error {
				g := getting{cmd: cmd, s: s, collection: collection, std: std, out: bufio.NewWriter(std.out)}
				if err := errors.Join(g.all(keys), g.out.Flush()); err != nil || !g.missing {
					return err
				}
				return errReported
			})
		},
	}
	where.addFlag(cmd)
	return cmd
}

// getting is one run of oid get.
type getting struct {
	cmd        *cobra.Command
	s          store.Store
	collection string
	std        streams
	out        *bufio.Writer
	missing    bool // something was reported
}

// all prints the documents of some keys or, without any, of those on standard input.
func (g *getting) all(keys []store.Key) (err error) {
	for _, key := range keys {
		if err := g.get(key); err != nil {
			return err
		}
	}
	if len(keys) > 0 {
		return nil
	}
	for _, text := range inputLines(g.cmd.Context(), g.std, "ids", &err) {
		key, wrong := store.ParseKey(text)
		if wrong != nil {
			g.report(wrong)
		} else if err := g.get(key); err != nil {
			return err
		}
	}
	return err
}

func (g *getting) get(key store.Key) error {
	doc, err := g.s.Get(g.cmd.Context(), g.collection, key)
	if errors.Is(err, store.ErrNotFound) {
		g.report(err)
		return nil
	}
	var line []byte
	if err == nil {
		line, err = documents.AsLine(doc)
	}
	if err == nil {
		_, err = g.out.Write(line)
	}
	return err
}

func (g *getting) report(err error) {
	g.missing = true
	g.std.warn("%v", err)
}
