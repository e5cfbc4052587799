package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/cmd/oid/internal/verify"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/server/wire"
)

const verifyHelp = `Run COMMAND, which creates ids with any library in any language, and judge them: whether
ids repeat, carry the time of their creation and one process value for each process, and
count up by one. COMMAND runs as --copies processes at once. Each promise holds, is broken,
or oid cannot tell, and says why. The specification of ObjectIds allows ids that decrease
where the counter overflows or the clock is set back, or that come from a pool; --order
demands that each is greater than the one before.

COMMAND writes ids to standard output, one on each line: 24 hexadecimal digits, or JSON.
It may run for ever, or end after any number of ids; OID_VERIFY_IDS says how many will be
judged. It writes each id when it is created, from one thread: an id may be older than
its arrival by the time in which the last 6553 ids arrived. OID_VERIFY says what else to
do:

  ids          nothing else
  fork         (--fork) after its ids, and before each fork, it flushes its output. It
               forks two children, one after the other, and waits for the end of each. A
               child writes the line "child", as many ids, and ends. Then the parent
               writes the line "parent" and as many ids.
  decode       (--decode) it reads lines from standard input, each the text of an id or
               of none, without the line feed, and answers each with a line: the 24
               digits that it has read, or "refused". A blank and the Unix seconds that
               the library reads from the id may follow the digits.
  decode-json  (--decode=json) as decode, and the lines are JSON values.

With --clock COMMAND sees another clock, by the library libfaketime (package faketime of
Debian), which stands still at a moment and, halfway, at another one:

  frozen   a moment; with more than 16777216 ids, a full second
  back     a moment, and an hour earlier
  forward  a moment, and an hour later
  wrap     2038-01-19T03:14:07Z, and a second later: 2^31
  end      2106-02-07T06:28:15Z, and a second later: 2^32; COMMAND may also fail then

Programs that do not call the C library for the time, as those in Go, do not see that
clock, and oid says so. They may read it, in Unix seconds, from the file that the
environment variable OID_VERIFY_CLOCK names.

Exit codes: 0 no promise is broken, 1 one is broken, 2 wrong use or COMMAND cannot be
started, 3 there is no verdict, for example because COMMAND failed or hangs.`

// verifyOptions are the flags of oid verify.
type verifyOptions struct {
	ids      int64
	copies   int
	clock    verify.ClockMode
	test     string // ids, fork, decode or decode-json
	order    bool
	duration time.Duration
	timeout  time.Duration
	quiet    bool
	command  []string
}

func newVerifyCommand(std streams) *cobra.Command {
	var (
		o      verifyOptions
		decode string // what OID_VERIFY is then
		fork   bool
		asJSON jsonFlag
	)
	cmd := &cobra.Command{
		Use:   "verify [flags] -- COMMAND [ARG...]",
		Short: "Judge the ids that any program creates",
		Long:  verifyHelp,
		Example: `  oid verify -- oid new -n 1000000
  oid verify --clock back -- node ids.js
  oid verify --ids 20000000 --clock frozen -- ruby ids.rb
  oid verify --decode -- php ids.php`,
		RunE: func(cmd *cobra.Command, args []string) error {
			changed := cmd.Flags().Changed
			switch {
			case len(args) == 0:
				return usagef("no command; write oid verify -- COMMAND")
			case fork && decode != "":
				return usagef("--fork and --decode are two tests: give one of them")
			case (fork || decode != "") && (changed("copies") || changed("clock") || changed("time")), decode != "" && (changed("ids") || o.order):
				return usagef("--copies, --clock and --time do not go with --fork and --decode, nor --ids and --order with --decode")
			}
			o.command, o.test = args, "ids"
			if fork {
				o.test, o.copies = "fork", 1
			} else if decode != "" {
				o.test = decode
			}
			if err := o.complete(changed("ids"), changed("time")); err != nil {
				return err
			}
			return o.run(cmd.Context(), std, asJSON)
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.Int64Var(&o.ids, "ids", 0, "judge this `NUMBER` of ids of each process (default 1000000; 16777216 with --order, 50000 with a clock that moves, 10000 with --fork)")
	f.IntVar(&o.copies, "copies", 2, "copies of COMMAND to run in parallel")
	stringForms(verify.ClockModes).addFlag(cmd, &o.clock, "clock", "", "run COMMAND under a fake clock")
	f.BoolVar(&fork, "fork", false, "let COMMAND fork, and judge the ids of parent and children")
	forms[string]{{"text", "decode"}, {"json", "decode-json"}}.addFlag(cmd, &decode, "decode", "", "judge how COMMAND reads ids, not how it creates them")
	f.Lookup("decode").NoOptDefVal = "text"
	f.BoolVar(&o.order, "order", false, "also require that each id is greater than the one before")
	f.DurationVar(&o.duration, "time", 0, "read ids for at least this time (default 6s, or 0s with --ids, --clock or --fork); a slow clock shows in 6s")
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "give up when COMMAND prints nothing for this time")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	asJSON.addFlag(cmd, jsonObject)
	return cmd
}

// leastWithClock is how many ids are needed to see that a clock has moved: in either half
// far more than what programs and pipes hold back.
const leastWithClock = 30_000

// complete checks the options, and sets the number of ids and the time unless they were
// given.
func (o *verifyOptions) complete(ids, duration bool) error {
	moves := o.clock != verify.Running && o.clock != verify.Frozen
	switch {
	case ids && (o.ids < 1 || moves && o.ids < leastWithClock):
		return usagef("--ids %d: want 1 or more, and with a --clock that moves %d or more, so that ids are created after that", o.ids, leastWithClock)
	case o.copies < 1 || o.copies > 100:
		return usagef("--copies %d: want 1 to 100", o.copies)
	case o.timeout <= 0 || o.duration < 0:
		return usagef("--timeout %v, --time %v: want a positive time", o.timeout, o.duration)
	}
	switch {
	case ids:
		return nil
	case o.test == "fork":
		o.ids = 10_000
	case o.order:
		o.ids = 1 << 24
	case moves:
		o.ids = 50_000
	default:
		o.ids = 1_000_000
	}
	if o.test == "ids" && o.clock == verify.Running && !duration {
		o.duration = 6 * time.Second
	}
	return nil
}

// run runs the test and writes the judgement.
func (o *verifyOptions) run(ctx context.Context, std streams, asJSON jsonFlag) error {
	began := time.Now()
	v := wire.Verification{Command: o.command, Test: o.test, Clock: string(o.clock)}
	judge := o.judgeIDs
	if strings.HasPrefix(o.test, "decode") {
		judge = o.judgeDecoding
	}
	err := judge(ctx, std, &v)
	var usage usageError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &usage):
		return err
	case err != nil:
		return exitError{exitNoVerdict, err}
	}
	v.TookSeconds = time.Since(began).Seconds()
	failed := verify.Failed(v.Promises)
	v.Holds = len(failed) == 0
	if err := asJSON.emit(std.out, v, func(w io.Writer) error { return writeVerification(w, v, failed) }); err != nil || v.Holds {
		return err
	}
	return errReported
}

// writeVerification writes a judgement for people. failed are the promises that are broken
// and must not be.
func writeVerification(w io.Writer, v wire.Verification, failed []string) error {
	var b strings.Builder
	one, many := "id", "ids"
	if strings.HasPrefix(v.Test, "decode") {
		one, many = "answer", "answers"
	}
	b.WriteString(phrase.Count(v.IDs, one, many))
	if v.IDs < v.Wanted {
		fmt.Fprintf(&b, " (and not %s as wanted)", phrase.Count(v.Wanted, "id", "ids"))
	}
	fmt.Fprintf(&b, " of %s in %.1f s", phrase.Count(int64(v.Processes), "process", "processes"), v.TookSeconds)
	if v.Clock != "" {
		fmt.Fprintf(&b, ", clock %s", v.Clock)
	}
	for _, p := range v.Promises {
		state := map[string]string{"holds": "holds", "broken": "BROKEN", "cannot-tell": "cannot tell"}[p.State]
		if p.Allowed {
			state = "allowed"
		}
		fmt.Fprintf(&b, "\n  %-12s %s", state, p.Text)
		if p.Times > 0 {
			fmt.Fprintf(&b, " (%s)", phrase.Count(p.Times, "time", "times"))
			for _, line := range []string{p.Cause, p.Example, p.Meaning} {
				fmt.Fprintf(&b, "\n  %-12s %s", "", phrase.Shown(line))
			}
		} else if p.Cause != "" {
			fmt.Fprintf(&b, ": %s", p.Cause)
		}
	}
	if v.Holds {
		b.WriteString("\nno promise is broken\n")
	} else {
		fmt.Fprintf(&b, "\n%s broken: %s\n", phrase.Count(int64(len(failed)), "promise is", "promises are"), strings.Join(failed, ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// judgeIDs runs the command, as several processes at once or as one that forks.
func (o *verifyOptions) judgeIDs(ctx context.Context, std streams, v *wire.Verification) error {
	dir, err := os.MkdirTemp("", "oid-verify")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	bar := newBar(std, o.quiet, "verifying", "ids", o.ids*int64(o.copies), false)
	runs := make([][]*verify.Stream, o.copies)
	var all sync.WaitGroup
	start := time.Now()
	for i := range runs {
		all.Go(func() {
			r := &verify.Reader{Name: fmt.Sprint("copy ", i+1), Want: o.ids, Fork: o.test == "fork", Held: verify.HeldBytes, Time: o.duration, Clock: verify.NewClock(o.clock, start, time.Now), Count: bar.count}
			if o.copies == 1 {
				r.Name = "the command"
			}
			var err error
			if runs[i], err = o.readIDs(ctx, std, r, filepath.Join(dir, fmt.Sprint(i))); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	bar.finish()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	found := slices.Concat(runs...)
	for _, s := range found {
		v.IDs += s.IDs()
		v.Wanted += o.ids
	}
	v.Processes = len(found)
	if o.test == "fork" {
		v.Processes-- // the parent has two streams
	}
	v.Promises = verify.Judge(found, o.order)
	return nil
}

// readIDs runs the command once and reads the ids of its processes. file is where its
// clock may be.
func (o *verifyOptions) readIDs(ctx context.Context, std streams, r *verify.Reader, file string) (found []*verify.Stream, err error) {
	var environment []string
	if o.clock != verify.Running {
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
	p, err := o.startProgram(ctx, std, r.Name, nil, environment)
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
	if how := p.ended(); !r.Enough() || how != "exit status 0" && (o.clock != verify.End || r.Clock.Moves()) {
		hint := ""
		if r.Fork {
			hint = ", and not those of children and of the parent after them; OID_VERIFY is fork, see oid verify --help"
		}
		return nil, fmt.Errorf("%s ended after %s%s (%s)", r.Name, phrase.Count(found[len(found)-1].IDs(), "id", "ids"), hint, how)
	}
	return found, nil
}

// judgeDecoding lets the command read texts.
func (o *verifyOptions) judgeDecoding(ctx context.Context, std streams, v *wire.Verification) error {
	texts := verify.Texts()
	if o.test == "decode-json" {
		texts = verify.JSONTexts()
	}
	var in strings.Builder
	for _, t := range texts {
		in.WriteString(t.Line + "\n")
	}
	o.ids = int64(len(texts))
	v.Processes, v.IDs, v.Wanted = 1, o.ids, o.ids
	p, err := o.startProgram(ctx, std, "the command", strings.NewReader(in.String()), nil)
	if err != nil {
		return err
	}
	defer p.close()
	lines := bufio.NewScanner(p)
	v.Promises, err = verify.Decode(texts, func(i int) (string, error) {
		if !lines.Scan() && lines.Err() == nil {
			return "", fmt.Errorf("the command ended after %d answers, want %d: the next text is %q (%s)", i, len(texts), texts[i].Line, p.ended())
		}
		return lines.Text(), lines.Err()
	})
	return err
}
