package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/internal/timerange"
	"github.com/oidkit/oid/objectid"
)

// idForms are the values of --format. Each function appends one id to b.
var idForms = forms[func(b []byte, id objectid.ID) []byte]{
	{"hex", func(b []byte, id objectid.ID) []byte {
		b, _ = id.AppendText(b)
		return append(b, '\n')
	}},
	{"bin", func(b []byte, id objectid.ID) []byte { return append(b, id[:]...) }},
	{"json", func(b []byte, id objectid.ID) []byte { return appendID(b, `{"$oid":"`, id, "\"}\n") }},
	{"mongosh", func(b []byte, id objectid.ID) []byte { return appendID(b, `ObjectId("`, id, "\")\n") }},
}

func appendID(b []byte, before string, id objectid.ID, after string) []byte {
	b = append(b, before...)
	b, _ = id.AppendText(b)
	return append(b, after...)
}

// appendTimedID appends a wire.TimedID for --json. It is faster than encoding/json.
func appendTimedID(b []byte, id objectid.ID) []byte {
	b = appendID(b, `{"id":"`, id, `","time":"`)
	b = id.Time().AppendFormat(b, time.RFC3339)
	return append(b, "\"}\n"...)
}

const newHelp = `Create ids and write them to standard output, one per line. With --format bin each id is
12 bytes without a newline. Each id is greater than the one before, and none repeats.

With --at all ids have that creation time. One second has room for 10^9 ids in the modern
layout; if you create more, the remaining ids get the next second.`

func newNewCommand(std streams) *cobra.Command {
	var (
		n      int64
		at     string
		layout objectid.Layout
		write  func([]byte, objectid.ID) []byte
		asJSON jsonFlag
		zone   zone
	)
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Create ids",
		Long:  newHelp,
		Example: `  oid new
  oid new -n 1000000 --format bin > ids.bin
  oid new --at 2026-01-01 --layout classic`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && strings.Trim(args[0], "0123456789") == "" {
				return fmt.Errorf("oid new takes no argument; the number of ids is -n %s", args[0])
			}
			return noArgs(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if n < 0 {
				return usagef("-n %d: want 0 or more", n)
			}
			if asJSON {
				if cmd.Flags().Changed("format") {
					return usagef("--json and --format exclude each other: give one of them")
				}
				write = appendTimedID
			}
			clock, err := clockAt(at, zone.now())
			if err != nil {
				return err
			}
			g, err := objectid.NewGenerator(&objectid.Options{Layout: layout, Now: clock})
			if err != nil {
				return err
			}
			widen(std.out)
			return writeIDs(cmd.Context(), std.out, g, n, write)
		},
	}
	f := cmd.Flags()
	f.Int64VarP(&n, "number", "n", 1, "create `N` ids")
	f.StringVar(&at, "at", "", "creation `TIME` of the ids (default now)")
	layouts.addFlag(cmd, &layout, "layout", objectid.Modern.String(), "`LAYOUT` of the ids")
	idForms.addFlag(cmd, &write, "format", "hex", "`FORMAT` of the ids")
	asJSON.addFlag(cmd, jsonObjects+", with the creation time")
	zone.addFlag(cmd)
	return cmd
}

// clockAt parses the value of --at and returns a clock that always shows that time. It
// returns nil if at is empty.
func clockAt(at string, now time.Time) (func() time.Time, error) {
	if at == "" {
		return nil, nil
	}
	t, err := timerange.Parse(at, now)
	if err != nil {
		return nil, ofFlag(&timerange.FieldError{Field: "at", Err: err})
	}
	if objectid.MinAt(t).Time().Unix() != t.Unix() {
		return nil, usagef("--at %s: want a time from 1970-01-01T00:00:00Z to 2106-02-07T06:28:15Z", at)
	}
	return func() time.Time { return t }, nil
}

// writeIDs writes n new ids of g to w, up to 4,096 at once. It returns ctx's error when ctx is
// done.
func writeIDs(ctx context.Context, w io.Writer, g *objectid.Generator, n int64, write func([]byte, objectid.ID) []byte) (err error) {
	defer func() {
		if r := recover(); r == objectid.ErrExhausted {
			err = objectid.ErrExhausted
		} else if r != nil {
			panic(r)
		}
	}()
	ids := make([]objectid.ID, min(n, 4096))
	var buf []byte
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		ids = ids[:min(n, int64(len(ids)))]
		g.Fill(ids)
		buf = buf[:0]
		for _, id := range ids {
			buf = write(buf, id)
		}
		if _, err := w.Write(buf); err != nil {
			return fmt.Errorf("write ids: %w", err)
		}
		n -= int64(len(ids))
	}
	return nil
}
