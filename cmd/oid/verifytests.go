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
	"strings"
	"time"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/verify"
)

// verifyBlock is how much of what a program writes is read at once.
const verifyBlock = 256 << 10

// judgeCopies runs the command as several processes at once, and returns the judgement
// and the number of ids.
func (o *verifyOptions) judgeCopies(ctx context.Context, std streams) ([]verify.Result, int64, error) {
	dir, err := os.MkdirTemp("", "oid-verify")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	bar := newBar(std, o.quiet, "verifying", "ids", o.ids*int64(o.copies), false)
	if _, isFile := std.err.(*os.File); !isFile { // several goroutines copy to it then
		std.err = &sharedWriter{w: std.err}
	}
	streams := make([]*verify.Stream, o.copies)
	done := make(chan error)
	for i := range streams {
		name := "the command"
		if o.copies > 1 {
			name = fmt.Sprintf("copy %d", i+1)
		}
		go func() {
			stream, err := o.judgeCopy(ctx, std, name, filepath.Join(dir, fmt.Sprint(i)), bar)
			streams[i] = stream
			done <- err
		}()
	}
	for range streams {
		if e := <-done; e != nil && err == nil {
			err = e
			cancel(e)
		}
	}
	bar.finish()
	if err != nil {
		return nil, 0, err
	}
	var ids int64
	for _, s := range streams {
		ids += s.IDs()
	}
	return verify.Copies(streams), ids, nil
}

// judgeCopy runs the command once and judges what it writes. file is where its clock
// may be.
func (o *verifyOptions) judgeCopy(ctx context.Context, std streams, name, file string, bar *progress) (*verify.Stream, error) {
	clock := verify.NewClock(o.clock, time.Now())
	var fake *fakeClock
	var environment []string
	if o.clock != verify.Running {
		var err error
		if fake, err = newFakeClock(clock, file); err != nil {
			return nil, err
		}
		if environment, err = fake.environment(); err != nil {
			return nil, err
		}
	}
	p, err := o.startProgram(ctx, std, name, nil, o.ids, environment...)
	if err != nil {
		return nil, err
	}
	defer p.end()
	s := verify.NewStream(name, p.cmd.Process.Pid, clock, o.ids)
	block := make([]byte, 0, verifyBlock)
	for !s.Done() {
		n, err := p.Read(block[len(block):cap(block)])
		block = block[:len(block)+n]
		end := bytes.LastIndexByte(block, '\n') + 1
		if errors.Is(err, io.EOF) {
			end = len(block) // the last line may have no end
		}
		before := s.IDs()
		if e := s.Lines(block[:end]); e != nil {
			return nil, e
		}
		bar.count(s.IDs() - before)
		if before == 0 && s.IDs() > 0 && clock.Ignored(s.Second()) {
			return nil, fmt.Errorf("%s does not see the clock of --clock: libfaketime does not reach programs that ask the system for the time without the C library, as those in Go; its ids are not judged", name)
		}
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, io.EOF) && !s.Done():
			if o.clock == verify.End && !fake.Steps() && p.failed() {
				return s, nil // it refuses to create ids that carry no time
			}
			return nil, p.early("after %s, want %d", phrase.Count(s.IDs(), "id", "ids"), o.ids)
		case err != nil && !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("after %s: %w", phrase.Count(s.IDs(), "id", "ids"), err)
		case end == 0 && len(block) == cap(block):
			return nil, fmt.Errorf("%s has written %d bytes without a line feed", name, len(block))
		}
		block = block[:copy(block, block[end:])]
		if fake != nil && fake.Steps() && s.IDs() >= o.ids/2 {
			if err := fake.step(); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// judgeFork runs the command, which forks, and returns the judgement, the number of
// processes and of ids.
func (o *verifyOptions) judgeFork(ctx context.Context, std streams) ([]verify.Result, int, int64, error) {
	p, err := o.startProgram(ctx, std, "the command", nil, o.ids)
	if err != nil {
		return nil, 0, 0, err
	}
	defer p.end()
	clock := verify.NewClock(verify.Running, time.Now())
	before := verify.NewStream("before the fork", 0, clock, o.ids)
	var children []*verify.Stream
	var after *verify.Stream
	now, ids := before, int64(0)
	lines := bufio.NewScanner(p)
	for (after == nil || !after.Done()) && lines.Scan() {
		switch line := strings.TrimRight(lines.Text(), "\r"); {
		case line == "child" || line == "parent":
			if !now.Done() {
				return nil, 0, 0, fmt.Errorf("%s: %s instead of %d before the line %q", now.Name(), phrase.Count(now.IDs(), "id", "ids"), o.ids, line)
			}
			now = verify.NewStream("after the fork", 0, clock, o.ids)
			if line == "parent" {
				after = now
				break
			}
			now = verify.NewStream(fmt.Sprintf("child %d", len(children)+1), 0, clock, o.ids)
			children = append(children, now)
		case now.Done():
			return nil, 0, 0, fmt.Errorf("%s: want a line \"child\" or \"parent\" after %d ids, not %q; does the command fork when OID_VERIFY is fork? See oid verify --help", now.Name(), o.ids, line)
		default:
			if err := now.Lines(lines.Bytes()); err != nil {
				return nil, 0, 0, err
			}
			ids++
		}
	}
	switch err := lines.Err(); {
	case ctx.Err() != nil:
		return nil, 0, 0, context.Cause(ctx)
	case err != nil:
		return nil, 0, 0, err
	case now == before && now.Done():
		return nil, 0, 0, p.early("after its ids without a fork; OID_VERIFY is fork, see oid verify --help")
	case after == nil || !after.Done():
		return nil, 0, 0, p.early("after %s, %d of them %s, and %s; want %d before a fork, in each child and after it", phrase.Count(ids, "id", "ids"), now.IDs(), now.Name(), phrase.Count(int64(len(children)), "child", "children"), o.ids)
	case len(children) == 0:
		return nil, 0, 0, errors.New("the command wrote no line \"child\"; it has to fork when OID_VERIFY is fork, see oid verify --help")
	}
	return verify.Fork(before, children, after), 1 + len(children), ids, nil
}

// judgeDecoding lets the command read texts, and returns the judgement and the number
// of answers.
func (o *verifyOptions) judgeDecoding(ctx context.Context, std streams) ([]verify.Result, int64, error) {
	texts := verify.Texts()
	if o.test == "decode-json" {
		texts = verify.JSONTexts()
	}
	var in strings.Builder
	for _, t := range texts {
		in.WriteString(t.Line + "\n")
	}
	p, err := o.startProgram(ctx, std, "the command", strings.NewReader(in.String()), int64(len(texts)))
	if err != nil {
		return nil, 0, err
	}
	defer p.end()
	d := verify.NewDecoding()
	lines := bufio.NewScanner(p)
	for i, t := range texts {
		if !lines.Scan() {
			switch err := lines.Err(); {
			case ctx.Err() != nil:
				return nil, 0, context.Cause(ctx)
			case err != nil:
				return nil, 0, err
			}
			return nil, 0, p.early("after %d answers, want %d: the next text is %q", i, len(texts), t.Line)
		}
		if err := d.Answer(t, lines.Text()); err != nil {
			return nil, 0, err
		}
	}
	return d.Results(), int64(len(texts)), nil
}
