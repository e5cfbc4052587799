package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/unpack"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

const annotateHelp = `Print a log file, or standard input, and add a note to each id in it. The note says when
the id was created. If the bytes of the id hardly have such a time, the note says why. If the
store knows the process that created the id, the note also has the name, the pid and the
current state of that process:

  order <507f1f77bcf86cd799439011: 14 years ago, shop#4711 dead> failed

The command finds the same ids as "oid inspect --grep" and prints all other text
unchanged. The log may be compressed. The command prints each line as soon as it is
complete. A terminal shows the notes dimmed, unless the variable NO_COLOR is set.`

func newAnnotateCommand(std streams) *cobra.Command {
	var where storeFlag
	cmd := &cobra.Command{
		Use:   "annotate [FILE...]",
		Short: "Print a log with a note on each id in it",
		Long:  annotateHelp,
		Example: `  tail -f app.log | oid annotate
  oid annotate app.log`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			t, err := where.openTracer(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = cmp.Or(err, t.Close()) }()
			widen(std.out)
			a := annotation{notes: &notes{std: std, tracer: t}, dim: isTerminal(std.out) && os.Getenv("NO_COLOR") == ""}
			files, err := filesOf(args)
			if err != nil {
				return err
			}
			for _, name := range files {
				if err := a.file(cmd.Context(), std, std.out, name); err != nil {
					return err
				}
			}
			return nil
		},
	}
	where.addFlag(cmd)
	return cmd
}

const (
	// annotateBlock is how many bytes are read at once.
	annotateBlock = 256 << 10

	// maxLogLine is the longest line, in bytes, in which all ids are found. Longer lines
	// are cut, perhaps within an id.
	maxLogLine = 1 << 20
)

// annotation is one run of oid annotate.
type annotation struct {
	notes *notes
	dim   bool
	buf   bytes.Buffer
}

// file annotates the file with the given name, or standard input if the name is "-".
func (a *annotation) file(ctx context.Context, std streams, w io.Writer, name string) error {
	in := std.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = func(context.Context, string) io.Reader { return f }
	}
	return a.log(ctx, w, unpack.Text(in(ctx, "a log"), unpack.Options{Name: name, Then: "oid annotate"}))
}

// log copies r to w and adds the notes. It writes each line when it is complete, and an
// incomplete last line when r ends. While it writes one block of lines, goroutines find the
// ids in the next blocks.
func (a *annotation) log(ctx context.Context, w io.Writer, r io.Reader) error {
	// Blocks are garbage once they are written, so few survive a collection.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	type block struct {
		bytes []byte
		ids   []inspect.Match
	}
	return inOrder(ctx, runtime.GOMAXPROCS(0),
		func(ctx context.Context, add func([]byte), flush func()) error {
			return blocks(ctx, r, func(bytes []byte) error {
				add(bytes)
				flush()
				return ctx.Err()
			})
		},
		func(one [][]byte) block { return block{one[0], inspect.Find(textOf(one[0]))} },
		func(b block) error {
			defer unusedBlocks.Put(&b.bytes)
			return a.write(ctx, w, textOf(b.bytes), b.ids)
		})
}

// unusedBlocks are blocks of memory into which the next text is read.
var unusedBlocks = sync.Pool{New: func() any { return new(make([]byte, 0, annotateBlock)) }}

// textOf returns the bytes of a block as text, without a copy. The text is valid until the block
// is unused.
func textOf(block []byte) string { return unsafe.String(unsafe.SliceData(block), len(block)) }

// blocks calls use with one piece of r after the other: all complete lines that have been
// read. A piece may end within a line if r ends there or if the line is longer than
// maxLogLine. A piece is a block, or the beginning of a block, that blocks uses no longer.
func blocks(ctx context.Context, r io.Reader, use func(piece []byte) error) error {
	next := func(rest []byte) []byte { return append((*unusedBlocks.Get().(*[]byte))[:0], rest...) }
	block := next(nil)
	for {
		n, err := r.Read(block[len(block):cap(block)])
		block = block[:len(block)+n]
		end := bytes.LastIndexByte(block[len(block)-n:], '\n') + 1
		if end > 0 {
			end += len(block) - n
			for inspect.Continues(textOf(block[max(end-64, 0):end])) {
				end = bytes.LastIndexByte(block[:end-1], '\n') + 1
			}
		}
		if err != nil || len(block) >= maxLogLine {
			end = len(block)
		}
		if end > 0 {
			rest := next(block[end:])
			if err := use(block[:end]); err != nil {
				return err
			}
			block = rest
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

// write writes text with notes. ids are the ids in it, in their order.
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
		note := a.notes.of(ctx, p.ID)
		if written := text[p.Start:p.End]; written != p.ID { // the digits of the id are not in a row
			note = p.ID + ", " + note
		}
		a.mark(text[p.Start:p.End], note)
		at = p.End
	}
	a.buf.WriteString(text[at:])
	_, err := w.Write(a.buf.Bytes())
	return err
}

// mark writes an id, in the notation of the log, with its note.
func (a *annotation) mark(id, note string) {
	parts := []string{"<", id, ": ", note, ">"}
	switch {
	case note == "":
		parts = parts[1:2]
	case a.dim: // code 22 ends the dimming but keeps the colours of the log
		parts = []string{"<", id, "\x1b[2m: ", note, "\x1b[22m>"}
	}
	for _, p := range parts {
		a.buf.WriteString(p)
	}
}

// notes makes the notes on ids.
type notes struct {
	std    streams
	tracer *tracer // may be nil
	now    time.Time
}

// of returns the note on an id, or "" if nothing is known about the id. Instead of a time that
// [inspect.Doubt] doubts, the note has the doubt.
func (n *notes) of(ctx context.Context, text string) string {
	id, err := objectid.Parse(text)
	if err != nil {
		in, err := inspect.Inspect(text, nil)
		switch {
		case err != nil || in.Time == nil:
			return ""
		case in.Readings[0].Verdict == inspect.Unlikely:
			return "unlikely: " + in.Readings[0].Reason
		}
		return n.age(*in.Time)
	}
	note := inspect.Doubt(id, n.now)
	if note == "" {
		note = n.age(id.Time())
	}
	if process := n.process(ctx, id); process != "" {
		note += ", " + process
	}
	return note
}

// age returns how long ago t was. An id in a log was created already: if its time has not come, the
// clocks of two hosts differ.
func (n *notes) age(t time.Time) string {
	return strings.Replace(phrase.Ago(t, n.now), "from now", "ahead of this clock", 1)
}

// process describes the process that created id: its name, pid and state. It returns the
// verdict if that is not certain, and "" if nothing is known.
func (n *notes) process(ctx context.Context, id objectid.ID) string {
	t := n.tracer.trace(ctx, n.std, id)
	if t == nil || t.Verdict == registry.Unknown {
		return ""
	}
	if t.Verdict != registry.Known && t.Verdict != registry.Claimed {
		return string(t.Verdict)
	}
	p := t.Processes[0]
	return fmt.Sprintf("%s%s#%d %s", claimedBy(t), phrase.Shown(p.Name), p.GPID.PID(), p.State)
}
