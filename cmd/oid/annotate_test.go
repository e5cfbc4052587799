package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

const annotatedID = "507f1f77bcf86cd799439011"

// Each line is printed before the next one arrives.
func TestAnnotateLineByLine(t *testing.T) {
	in, feed := io.Pipe()
	read, out := io.Pipe()
	done := make(chan int, 1)
	go func() {
		var stderr bytes.Buffer
		done <- run(t.Context(), streams{in, out, &stderr}, []string{"annotate"})
		out.Close()
	}()
	lines := bufio.NewReader(read)
	for i := range 3 {
		if _, err := fmt.Fprintf(feed, "line %d %s ok\nbeginning of the next", i, annotatedID); err != nil {
			t.Fatal(err)
		}
		got := make(chan string, 1)
		go func() {
			line, _ := lines.ReadString('\n')
			got <- line
		}()
		select {
		case line := <-got:
			if !strings.Contains(line, fmt.Sprintf("line %d <%s: ", i, annotatedID)) {
				t.Errorf("line %d is %q", i, line)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("line %d does not come", i)
		}
	}
	feed.Close()
	rest, err := io.ReadAll(lines)
	if err != nil || string(rest) != "beginning of the next" || <-done != 0 {
		t.Errorf("the last line is %q, %v", rest, err)
	}
}

// Lines that are cut anywhere by the reader, and lines longer than a block, lose
// nothing; what is left without its notes is the text.
func TestAnnotateLosesNothing(t *testing.T) {
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, "line %d of %s, %s\n", i, annotatedID, strings.Repeat("x", i%50))
	}
	text.WriteString(strings.Repeat("long ", annotateBlock) + annotatedID + " end\n")
	text.WriteString(strings.Repeat("-", maxLogLine+annotateBlock) + " " + annotatedID)
	for name, r := range map[string]io.Reader{
		"whole": strings.NewReader(text.String()), "halves": iotest.HalfReader(strings.NewReader(text.String())),
		"data with EOF": iotest.DataErrReader(strings.NewReader(text.String())), "a file": logFile(t, text.String()),
	} {
		var out bytes.Buffer
		a := annotation{notes: &notes{}}
		if err := a.log(t.Context(), &out, r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		note := a.notes.of(t.Context(), annotatedID)
		if n := strings.Count(out.String(), "<"+annotatedID+": "+note+">"); n != 3002 {
			t.Errorf("%s: %d ids have notes, want 3002", name, n)
		}
		if back := strings.ReplaceAll(out.String(), "<"+annotatedID+": "+note+">", annotatedID); back != text.String() {
			t.Errorf("%s: %d bytes came out of %d", name, len(back), text.Len())
		}
	}
}

// slowWriter lets the other goroutines run before it looks at what it has to write.
type slowWriter struct{ bytes.Buffer }

func (w *slowWriter) WriteString(s string) (int, error) {
	time.Sleep(time.Millisecond)
	return w.Buffer.WriteString(s)
}

// The block that a slow writer writes is not the memory into which the next block is read.
func TestAnnotateToASlowWriter(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a pool hands a block over to the same processor
	var text strings.Builder
	for i := range 30 * annotateBlock / 10 {
		fmt.Fprintf(&text, "%9d\n", i)
	}
	var out slowWriter
	a := annotation{notes: &notes{}}
	if err := a.log(t.Context(), &out, strings.NewReader(text.String())); err != nil {
		t.Fatal(err)
	}
	if out.String() != text.String() {
		t.Errorf("of %d bytes, %d came out, and some of them were changed", text.Len(), out.Len())
	}
}

// logFile returns a file with a log.
func logFile(t *testing.T, text string) *os.File {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// A file whose notes cannot be written is not read to its end.
func TestAnnotateStopsWhenItCannotWrite(t *testing.T) {
	full := errors.New("the disk is full")
	f := logFile(t, strings.Repeat("order "+annotatedID+"\n", 1<<19))
	a := annotation{notes: &notes{}}
	if err := a.log(t.Context(), writerFunc(func([]byte) (int, error) { return 0, full }), f); !errors.Is(err, full) {
		t.Errorf("%v, want %v", err, full)
	}
	if at, err := f.Seek(0, io.SeekCurrent); err != nil || at > 1<<23 {
		t.Errorf("%d bytes were read, %v", at, err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestAnnotateReportsReadErrors(t *testing.T) {
	var out bytes.Buffer
	a := annotation{notes: &notes{}}
	err := a.log(t.Context(), &out, io.MultiReader(strings.NewReader("x "+annotatedID), iotest.ErrReader(io.ErrUnexpectedEOF)))
	if err == nil || !strings.HasPrefix(out.String(), "x <"+annotatedID) {
		t.Errorf("%q, %v", out.String(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.log(ctx, &out, strings.NewReader("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// A line that does not end is printed when it has maxLogLine bytes, and not later.
func TestAnnotateBoundsALine(t *testing.T) {
	var out bytes.Buffer
	var printed []int
	look := readerFunc(func([]byte) (int, error) {
		printed = append(printed, out.Len())
		return 0, io.EOF
	})
	a := annotation{notes: &notes{}}
	for n, want := range map[int]int{maxLogLine - annotateBlock: 0, maxLogLine: maxLogLine} {
		out.Reset()
		printed = nil
		print := func(piece []byte) error { return a.write(t.Context(), &out, string(piece), nil) }
		if err := blocks(t.Context(), io.MultiReader(strings.NewReader(strings.Repeat("x", n)), look), print); err != nil {
			t.Fatal(err)
		}
		if len(printed) != 1 || printed[0] != want || out.Len() != n {
			t.Errorf("a line of %d bytes: %v are printed before it ends, want %d; %d in all", n, printed, want, out.Len())
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// At a terminal the notes are dimmed, and the colours of the log stay as they are.
func TestAnnotateDims(t *testing.T) {
	var out bytes.Buffer
	a := annotation{notes: &notes{}, dim: true}
	if err := a.log(t.Context(), &out, strings.NewReader("order "+annotatedID+" failed")); err != nil {
		t.Fatal(err)
	}
	note := a.notes.of(t.Context(), annotatedID)
	if want := "order <" + annotatedID + "\x1b[2m: " + note + "\x1b[22m> failed"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// An id that arrives in pieces has its note, even if a soft line break divides its digits.
func TestAnnotateIDsInPieces(t *testing.T) {
	text := "a " + annotatedID + " b\n" + annotatedID[:9] + "=\n" + annotatedID[9:] + " c\nd " + annotatedID
	var out bytes.Buffer
	a := annotation{notes: &notes{}}
	if err := a.log(t.Context(), &out, iotest.OneByteReader(strings.NewReader(text))); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), annotatedID+": ") + strings.Count(out.String(), annotatedID[9:]+": "+annotatedID+", "); n != 3 {
		t.Errorf("%q: %d ids have notes, want 3", out.String(), n)
	}
}
