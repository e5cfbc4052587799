package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oidkit/oid/examples/verify/internal/judge"
	"github.com/oidkit/oid/internal/phrase"
)

// run runs the test and writes the judgement.
func (o *options) run(ctx context.Context) error {
	began := time.Now()
	v := judge.Verification{Command: o.command, Test: o.test, Clock: string(o.clock)}
	test := o.judgeIDs
	resumes := o.test == "resume"
	switch {
	case resumes:
		test = o.judgeResumed
	case strings.HasPrefix(o.test, "decode"):
		test = o.judgeDecoding
	}
	err := test(ctx, &v)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, new(usageError)):
		return err
	case err != nil:
		return noVerdict{err}
	}
	v.TookSeconds = time.Since(began).Seconds()
	failed := judge.Failed(v.Promises)
	v.Holds = len(failed) == 0
	if o.json {
		e := json.NewEncoder(os.Stdout)
		e.SetEscapeHTML(false)
		err = e.Encode(v)
	} else {
		err = writeText(os.Stdout, v, failed)
	}
	switch {
	case err == nil && !v.Holds:
		return errBroken
	case err == nil && resumes && v.Test != "resume":
		return noVerdict{errors.New("without CRIU nothing shows whether resumed copies create different ids")}
	}
	return err
}

// judgeIDs runs the command, as several processes at once or as one that forks.
func (o *options) judgeIDs(ctx context.Context, v *judge.Verification) error {
	dir, err := os.MkdirTemp("", "oid-verify")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	runs := make([][]*judge.Stream, o.copies)
	var all sync.WaitGroup
	start := time.Now()
	for i := range runs {
		all.Go(func() {
			r := &judge.Reader{Name: fmt.Sprint("copy ", i+1), Want: o.ids, Fork: o.test == "fork", Held: judge.HeldBytes, Time: o.duration, Clock: judge.NewClock(o.clock, start, time.Now)}
			if o.copies == 1 {
				r.Name = "the command"
			}
			var err error
			if runs[i], err = o.readIDs(ctx, r, filepath.Join(dir, fmt.Sprint(i))); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return o.judgeStreams(v, slices.Concat(runs...))
}

// judgeResumed runs the command up to a checkpoint and resumes copies of it. Without CRIU the
// command forks instead.
func (o *options) judgeResumed(ctx context.Context, v *judge.Verification) error {
	if missing := criuMissing(); missing != "" {
		fmt.Fprintf(os.Stderr, "verify: CRIU cannot stop and copy processes here (%s): the command forks instead, with OID_VERIFY=fork. A fork has another pid, a resumed copy has the same.\n", phrase.Plain(missing))
		o.test, v.Test, o.copies = "fork", "fork", 1
		err := o.judgeIDs(ctx, v)
		for i, p := range v.Promises {
			if p.State == judge.Holds && (p.Promise == string(judge.OwnValue) || p.Promise == string(judge.NoCopies)) {
				v.Promises[i].State = judge.CannotTell
				v.Promises[i].Cause = "a fork has another pid; a copy that is resumed from a snapshot has the same"
			}
		}
		return err
	}
	dir, err := os.MkdirTemp("", "oid-verify")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	found, err := o.readResumed(ctx, dir)
	if err != nil {
		return err
	}
	return o.judgeStreams(v, found)
}

// judgeStreams judges the ids of all processes.
func (o *options) judgeStreams(v *judge.Verification, found []*judge.Stream) error {
	for _, s := range found {
		v.IDs += s.IDs()
		v.Wanted += o.ids
	}
	v.Processes = len(found)
	if o.test == "fork" {
		v.Processes-- // the parent has two streams
	}
	v.Promises = judge.Judge(found, o.order)
	return nil
}

// readIDs runs the command once and reads the ids of its processes. file is where its
// clock may be.
func (o *options) readIDs(ctx context.Context, r *judge.Reader, file string) (found []*judge.Stream, err error) {
	var environment []string
	if o.clock != judge.Running {
		if environment, err = fakeClock(r.Clock, file); err != nil {
			return nil, err
		}
	}
	r.Clock.Sleep = func(d time.Duration) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
	p, err := o.startProgram(ctx, r.Name, nil, environment)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if !r.Fork {
		r.PID = p.cmd.Process.Pid
	}
	found, err = r.Read(p)
	if !errors.Is(err, io.EOF) {
		return found, err
	}
	// It may refuse to create ids that carry no time.
	if how := p.ended(); !r.Enough() || how != "exit status 0" && (o.clock != judge.End || r.Clock.Moves()) {
		hint := ""
		if r.Fork {
			hint = ", and not those of children and of the parent after them; OID_VERIFY is fork, see verify --help"
		}
		return nil, fmt.Errorf("%s ended after %s%s (%s)", r.Name, phrase.Count(found[len(found)-1].IDs(), "id", "ids"), hint, how)
	}
	return found, nil
}

// judgeDecoding lets the command read texts.
func (o *options) judgeDecoding(ctx context.Context, v *judge.Verification) error {
	texts := judge.Texts()
	if o.test == "decode-json" {
		texts = judge.JSONTexts()
	}
	var in strings.Builder
	for _, t := range texts {
		in.WriteString(t.Line + "\n")
	}
	o.ids = int64(len(texts))
	v.Processes, v.IDs, v.Wanted = 1, o.ids, o.ids
	p, err := o.startProgram(ctx, "the command", strings.NewReader(in.String()), nil)
	if err != nil {
		return err
	}
	defer p.close()
	lines := bufio.NewScanner(p)
	v.Promises, err = judge.Decode(texts, func(i int) (string, error) {
		if !lines.Scan() && lines.Err() == nil {
			return "", fmt.Errorf("the command ended after %d answers, want %d: the next text is %q (%s)", i, len(texts), texts[i].Line, p.ended())
		}
		return lines.Text(), lines.Err()
	})
	return err
}
