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
	"github.com/oidkit/oid/internal/unpack"
	"github.com/oidkit/oid/objectid"
)

// pastedID is an id in the input of a command.
type pastedID struct {
	source string // "stdin" or "argument"
	inspect.Found
	err error // if not nil, the text is not an id
}

// place returns the position of the id for error messages: "line 3" or "argument 2".
func (p pastedID) place() string {
	if p.source == "stdin" {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("argument %d", p.Line)
}

// pasting configures how a command reads ids in the notations that people paste.
type pasting struct {
	grep  bool   // find ids in any text, and ignore the rest
	waits func() // if not nil, called before each read of standard input
}

func (p *pasting) addFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&p.grep, "grep", false, "find the ids in any text, such as a log, and ignore the rest")
}

// ids yields the ids in args. An argument "-" stands for standard input, and so does an
// empty list. For an id in an argument, Line is the number of the argument. Text on standard
// input in which no id is expected is ignored; if there is no id at all, the first such
// text is yielded as an error. When ctx is done, ids ends without an error.
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

// objectIDs calls use with each ObjectId in the input, in the order of [pasting.ids], until
// use returns an error. It reports ids of other kinds and text that is not an id, and then
// returns errReported.
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

// textsOf yields args with their positions. If there are none, it yields the lines of
// standard input that are not blank, and sets err if it cannot read them. what names the
// input for the user.
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

// argumentIDs returns the ids in an argument. If the argument is the name of a file, the
// error says how to read the file.
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

// fromStdin yields the ids in standard input. It reports whether to continue.
func (p pasting) fromStdin(ctx context.Context, std streams, yield func(pastedID) bool) bool {
	scan := inspect.Scan
	if p.grep {
		scan = inspect.FindAll
	}
	var ignored *pastedID
	anyID := p.grep // without ids, --grep reports nothing
	for found, err := range scan(unpack.Text(waiting{std.stdin(ctx, "ids"), p.waits}, unpack.Options{Then: "oid inspect --grep"})) {
		if ctx.Err() != nil {
			return false
		}
		if errors.Is(err, inspect.ErrNoID) || err == nil && !strings.ContainsFunc(found.Text, func(r rune) bool { return '0' <= r && r <= '9' }) {
			if ignored == nil {
				ignored = &pastedID{"stdin", found, err}
			}
			continue
		}
		anyID = true
		if !yield(pastedID{"stdin", found, err}) {
			return false
		}
	}
	return anyID || ignored == nil || yield(*ignored)
}

// waiting is a reader that calls waits before each read.
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
