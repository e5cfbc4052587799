package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

const annotateHelp = `Print a log, or standard input, with what is known of each id in it: when it was
created and, if the store has it, by which process and the state of that now:

  order <507f1f77bcf86cd799439011: 14 years ago, shop#4711 dead> failed

The ids are those that "oid inspect --grep" finds. All other text is printed as it is.
Each line is printed as soon as it is complete. At a terminal the notes are dimmed.`

func newAnnotateCommand(std streams) *cobra.Command {
	var where storeFlag
	cmd := &cobra.Command{
		Use:   "annotate [FILE...]",
		Short: "Print a log with what is known of each id in it",
		Long:  annotateHelp,
		Example: `  tail -f app.log | oid annotate
  oid annotate app.log`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			t, err := where.openTracer(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, t.Close()) }()
			widen(std.out)
			a := annotation{notes: &notes{std: std, tracer: t}, dim: isTerminal(std.out) && os.Getenv("NO_COLOR") == ""}
			if len(args) == 0 {
				args = []string{"-"}
			}
			for _, name := range args {
				if err := a.file(cmd.Context(), std, std.out, name); err != nil {
					return err
				}
			}
			return a.notes.failed
		},
	}
	where.addFlag(cmd)
	return cmd
}

const (
	// annotateBlock is how much is read at once.
	annotateBlock = 256 << 10

	// maxLogLine is the longest line in which all ids are found.
	maxLogLine = 1 << 20
)

// annotation is one run of oid annotate.
type annotation struct {
	notes *notes
	dim   bool
	buf   bytes.Buffer
}

// file annotates a file, or standard input if its name is "-".
func (a *annotation) file(ctx context.Context, std streams, w io.Writer, name string) error {
	if name == "-" {
		return a.log(ctx, w, std.stdin(ctx, "a log"))
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return a.log(ctx, w, f)
}

// log writes r with notes to w: complete lines at once, and the beginning of a line when r
// ends. While one block is written, the ids in the next ones are searched.
func (a *annotation) log(ctx context.Context, w io.Writer, r io.Reader) error {
	// Blocks are garbage once they are written, so that a heap of many costs little memory.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	type block struct {
		text string
		ids  []inspect.Match
	}
	return inOrder(ctx, runtime.GOMAXPROCS(0),
		func(ctx context.Context, add func(string), flush func()) error {
			return blocks(ctx, r, func(text string) error {
				add(text)
				flush()
				return ctx.Err()
			})
		},
		func(one []string) block { return block{one[0], inspect.Find(one[0])} },
		func(b block) error { return a.write(ctx, w, b.text, b.ids) })
}

// blocks calls use with pieces of r: as many complete lines as there are, and the
// beginning of a line when r ends or when it is longer than maxLogLine.
func blocks(ctx context.Context, r io.Reader, use func(text string) error) error {
	block := make([]byte, 0, annotateBlock)
	for {
		n, err := r.Read(block[len(block):cap(block)])
		block = block[:len(block)+n]
		end := bytes.LastIndexByte(block[len(block)-n:], '\n') + 1
		if end > 0 {
			end += len(block) - n
		}
		if err != nil || len(block) >= maxLogLine {
			end = len(block)
		}
		if end > 0 {
			if err := use(string(block[:end])); err != nil {
				return err
			}
			block = block[:copy(block, block[end:])]
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("read: %w", err)
		case len(block) == cap(block):
			block = append(make([]byte, 0, 2*cap(block)), block...)
		}
	}
}

// write writes text with notes on the ids in it.
func (a *annotation) write(ctx context.Context, w io.Writer, text string, ids []inspect.Match) error {
	if ids == nil {
		_, err := io.WriteString(w, text)
		return err
	}
	a.notes.now = time.Now()
	a.buf.Reset()
	at := 0
	for _, p := range ids {
		a.buf.WriteString(text[at:p.Start])
		a.mark(text[p.Start:p.End], a.notes.of(ctx, p.ID))
		at = p.End
	}
	a.buf.WriteString(text[at:])
	_, err := w.Write(a.buf.Bytes())
	return err
}

// mark writes an id, as it is written in the text, with its note.
func (a *annotation) mark(id, note string) {
	parts := []string{"<", id, ": ", note, ">"}
	switch {
	case note == "":
		parts = parts[1:2]
	case a.dim: // 22 ends the dimming and leaves the colours of the log as they are
		parts = []string{"<", id, "\x1b[2m: ", note, "\x1b[22m>"}
	}
	for _, p := range parts {
		a.buf.WriteString(p)
	}
}

// notes are what is known of ids.
type notes struct {
	std    streams
	tracer *tracer
	failed error // errReported once the registry has failed
	now    time.Time
}

// of returns the note on an id, or "" if nothing is known of it. A registry that fails is
// reported once.
func (n *notes) of(ctx context.Context, text string) string {
	id, err := objectid.Parse(text)
	if err != nil {
		if in, err := inspect.Inspect(text, nil); err == nil && in.Time != nil {
			return phrase.Ago(*in.Time, n.now)
		}
		return ""
	}
	note := phrase.Ago(id.Time(), n.now)
	if process := n.process(ctx, id); process != "" {
		note += ", " + process
	}
	return note
}

// process returns the process that created id, or the verdict, or "" if none is known.
func (n *notes) process(ctx context.Context, id objectid.ID) string {
	if n.tracer == nil {
		return ""
	}
	t, err := n.tracer.Trace(ctx, id)
	switch {
	case err != nil && ctx.Err() != nil:
		return ""
	case err != nil:
		n.std.warn("processes are not shown: %v", err)
		n.failed, n.tracer = errReported, nil
		return ""
	case t.Verdict == registry.Unknown:
		return ""
	}
	if t.Verdict != registry.Known && t.Verdict != registry.Claimed {
		return string(t.Verdict)
	}
	p := t.Processes[0]
	return fmt.Sprintf("%s%s#%d %s", claimedBy(&t), phrase.Shown(p.Name), p.GPID.PID(), p.State)
}
