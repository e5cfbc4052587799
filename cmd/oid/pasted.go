package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/objectid"
)

// pastedID is an id that the command was given.
type pastedID struct {
	source string // stdin or argument
	inspect.Found
	err error // why there is none
}

// place returns the place of the id, for an error about it.
func (p pastedID) place() string {
	if p.source == "stdin" {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("argument %d", p.Line)
}

// pasting is how a command reads the ids that people paste.
type pasting struct {
	grep  bool   // ignore everything but ids that nothing else looks like
	waits func() // if not nil, is called before each read of standard input
}

func (p *pasting) addFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&p.grep, "grep", false, "find the ids in any text, such as a log, and ignore the rest")
}

// ids yields the ids in args, or those in standard input if there are no args or where
// one is "-". The line of an argument's id is the argument's number. Text on standard
// input in which no id is expected is ignored, unless there is nothing else. It ends
// with ctx, without an error.
func (p pasting) ids(ctx context.Context, std streams, args []string) iter.Seq[pastedID] {
	if len(args) == 0 {
		args = []string{"-"}
	}
	return func(yield func(pastedID) bool) {
		for i, arg := range args {
			if arg == "-" {
				if !p.fromStdin(ctx, std, yield) {
					return
				}
				continue
			}
			for _, id := range argumentIDs(arg) {
				id.Line = i + 1
				if ctx.Err() != nil || !yield(id) {
					return
				}
			}
		}
	}
}

// objectIDs calls use with each ObjectId that is given, in the order of [pasting.ids], until
// that fails. It reports what is not one.
func (p pasting) objectIDs(ctx context.Context, std streams, args []string, use func(objectid.ID) error) (err error) {
	for found := range p.ids(ctx, std, args) {
		id, wrong := objectid.ID{}, found.err
		if wrong == nil {
			id, wrong = objectid.Parse(found.Text)
		}
		if wrong != nil {
			std.warn("%s: %v", found.place(), wrong)
			err = errReported
		} else if err := use(id); err != nil {
			return err
		}
	}
	return cmp.Or(ctx.Err(), err)
}

// textsOf yields args with their places, or the lines of standard input that are not blank if
// there are none. It sets err if that cannot be read.
func textsOf(ctx context.Context, std streams, args []string, what string, err *error) iter.Seq2[string, string] {
	return func(yield func(place, text string) bool) {
		for i, arg := range args {
			if !yield(fmt.Sprintf("argument %d", i+1), arg) {
				return
			}
		}
		if len(args) > 0 {
			return
		}
		lines := bufio.NewScanner(std.stdin(ctx, what))
		for n := 1; lines.Scan(); n++ {
			if text := strings.TrimSpace(lines.Text()); text != "" && !yield(fmt.Sprintf("line %d", n), text) {
				return
			}
		}
		if e := lines.Err(); e != nil {
			*err = fmt.Errorf("read: %w", e)
		}
	}
}

// argumentIDs returns the ids in an argument. An argument that is not an id but the name of
// a file is refused as such.
func argumentIDs(arg string) (ids []pastedID) {
	if strings.TrimSpace(arg) == "" {
		return []pastedID{{source: "argument", err: errors.New("empty; want an id")}}
	}
	for found, err := range inspect.Scan(strings.NewReader(arg)) {
		ids = append(ids, pastedID{"argument", found, err})
	}
	if len(ids) == 1 {
		if _, err := inspect.Inspect(ids[0].Text, nil); err != nil {
			if info, err := os.Stat(arg); err == nil && !info.IsDir() {
				ids[0] = pastedID{source: "argument", err: fmt.Errorf("%q is a file; to read it, write < %s", arg, arg)}
			}
		}
	}
	return ids
}

// fromStdin yields what is in standard input. It reports whether to go on.
func (p pasting) fromStdin(ctx context.Context, std streams, yield func(pastedID) bool) bool {
	scan := inspect.Scan
	if p.grep {
		scan = inspect.FindAll
	}
	var ignored *pastedID
	sure := p.grep // that ids are expected
	for found, err := range scan(waiting{std.stdin(ctx, "ids"), p.waits}) {
		if ctx.Err() != nil {
			return false
		}
		if errors.Is(err, inspect.ErrNoID) || err == nil && !strings.ContainsFunc(found.Text, func(r rune) bool { return '0' <= r && r <= '9' }) {
			if ignored == nil {
				ignored = &pastedID{"stdin", found, err}
			}
			continue
		}
		sure = true
		if !yield(pastedID{"stdin", found, err}) {
			return false
		}
	}
	return sure || ignored == nil || yield(*ignored)
}

// waiting is a reader that calls a function before it reads.
type waiting struct {
	io.Reader
	waits func()
}

func (w waiting) Read(b []byte) (int, error) {
	if w.waits != nil {
		w.waits()
	}
	return w.Reader.Read(b)
}
