// Command verify judges the ids that a program in any language creates: it runs the program
// and reads the ids that the program prints. "verify --help" says what is judged.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/oidkit/oid/examples/verify/internal/judge"
	"github.com/oidkit/oid/internal/phrase"
)

const help = `Run COMMAND, which creates ids with any library in any language, and judge them: whether
ids repeat, carry the time of their creation and one process value for each process, and
count up by one. COMMAND runs as --copies processes at once. Each promise holds, is broken,
or verify cannot tell, and says why. The specification of ObjectIds allows ids that decrease
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
  resume       (--resume) after its ids it flushes its output and waits for a line from
               standard input. It is stopped there, and two copies are resumed, each of
               which reads the line and writes as many ids. If the library has a function
               to call after a snapshot, call it when the line is read. OID_VMCLOCK names
               a file with the layout of /dev/vmclock0, whose generation counter changes.
               This needs CRIU, and root. Without CRIU it is as fork, and does not
               tell whether resumed copies differ.
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
clock, and verify says so. They may read it, in Unix seconds, from the file that the
environment variable OID_VERIFY_CLOCK names.

Exit codes: 0 no promise is broken, 1 one is broken, 2 wrong use or COMMAND cannot be
started, 3 nothing could be judged, for example because COMMAND failed or hangs, or because
--resume found no CRIU.

Usage:
  verify [flags] -- COMMAND [ARG...]

Examples:
  verify -- oid new -n 1000000
  verify --clock back -- node ids.js
  verify --ids 20000000 --clock frozen -- ruby ids.rb
  verify --decode -- php ids.php

Flags:
`

// Exit codes other than 0.
const (
	exitBroken    = 1 // a promise is broken, or the judgement cannot be written
	exitUsage     = 2
	exitNoVerdict = 3
)

// usageError is an error in the command line.
type usageError struct{ error }

// usagef returns a usageError.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// noVerdict is the reason why a test ended without a judgement.
type noVerdict struct{ error }

// errBroken says that a promise is broken, which the judgement has shown.
var errBroken = errors.New("a promise is broken")

// interrupted is the cause of the end of a context that a signal has ended.
type interrupted struct{ signal os.Signal }

func (i interrupted) Error() string { return i.signal.String() }

func main() {
	ctx, interrupt := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if !signal.Ignored(s) { // as SIGINT is in the background of a script
			signal.Notify(signals, s)
		}
	}
	go func() { interrupt(interrupted{<-signals}) }()
	o, err := parse(os.Args[1:])
	if err == nil {
		err = o.run(ctx)
	}
	os.Exit(exitCode(err))
}

// exitCode returns the exit code for an error, which it writes to stderr where that helps.
func exitCode(err error) int {
	var by interrupted
	code := exitBroken
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
		return 0
	case errors.Is(err, errBroken):
		return exitBroken
	case errors.As(err, &by):
		return dieOf(by.signal)
	case errors.As(err, new(usageError)):
		err = fmt.Errorf("%w\nverify: hint: see \"verify --help\"", err)
		code = exitUsage
	case errors.As(err, new(noVerdict)):
		code = exitNoVerdict
	}
	fmt.Fprintf(os.Stderr, "verify: %s\n", phrase.Plain(err.Error()))
	return code
}

// dieOf ends this process by a signal that has ended the test: a shell then ends its script
// after Ctrl-C. Where a process cannot do that, it returns the exit code that shells show.
func dieOf(s os.Signal) int {
	signal.Reset(s)
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(s) == nil {
		time.Sleep(time.Second) // another thread may be the one that acts on it
	}
	number, _ := s.(syscall.Signal)
	return 128 + int(number)
}

// options are the flags and the command that is judged.
type options struct {
	ids      int64
	copies   int
	clock    judge.ClockMode
	test     string // ids, fork, resume, decode or decode-json
	order    bool
	duration time.Duration
	timeout  time.Duration
	json     bool
	command  []string
}

// parse reads the command line. For --help it prints the help and returns [pflag.ErrHelp].
func parse(args []string) (*options, error) {
	var (
		o      options
		decode string
		fork   bool
		resume bool
	)
	f := pflag.NewFlagSet("verify", pflag.ContinueOnError)
	f.Usage = func() { fmt.Print(help + f.FlagUsages()) }
	f.SetInterspersed(false)
	f.Int64Var(&o.ids, "ids", 0, "judge this `NUMBER` of ids of each process (default 1000000; 16777216 with --order, 50000 with a clock that moves, 10000 with --fork or --resume)")
	f.IntVar(&o.copies, "copies", 2, "copies of COMMAND to run in parallel")
	f.StringVar((*string)(&o.clock), "clock", "", "run COMMAND under a fake clock: "+clockNames())
	f.BoolVar(&fork, "fork", false, "let COMMAND fork, and judge the ids of parent and children")
	f.BoolVar(&resume, "resume", false, "stop COMMAND, and judge the ids of copies that are resumed, as from a snapshot of its machine")
	f.StringVar(&decode, "decode", "", "judge how COMMAND reads ids, not how it creates them: text, json")
	f.Lookup("decode").NoOptDefVal = "text"
	f.BoolVar(&o.order, "order", false, "also require that each id is greater than the one before")
	f.DurationVar(&o.duration, "time", 0, "read ids for at least this time (default 6s, or 0s with --ids, --clock, --fork or --resume); a slow clock shows in 6s")
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "give up when COMMAND prints nothing for this time")
	f.BoolVar(&o.json, "json", false, "write one JSON object")
	if err := f.Parse(args); errors.Is(err, pflag.ErrHelp) {
		return nil, err
	} else if err != nil {
		return nil, usageError{err}
	}
	o.command, o.test = f.Args(), "ids"
	changed := f.Changed
	decodes := changed("decode")
	switch {
	case len(o.command) == 0:
		return nil, usagef("no command; write verify -- COMMAND")
	case changed("clock") && !slices.Contains(judge.ClockModes, o.clock):
		return nil, usagef("--clock %q: want one of %s", o.clock, clockNames())
	case decodes && decode != "text" && decode != "json":
		return nil, usagef("--decode %q: want one of text, json", decode)
	case fork && decodes || fork && resume || resume && decodes:
		return nil, usagef("--fork, --resume and --decode are different tests: give one of them")
	case (fork || resume || decodes) && (changed("copies") || changed("clock") || changed("time")), decodes && (changed("ids") || o.order):
		return nil, usagef("--copies, --clock and --time do not go with --fork, --resume and --decode, nor --ids and --order with --decode")
	}
	switch {
	case resume:
		o.test = "resume"
	case fork:
		o.test, o.copies = "fork", 1
	case decode == "text":
		o.test = "decode"
	case decode == "json":
		o.test = "decode-json"
	}
	return &o, o.complete(changed("ids"), changed("time"))
}

// clockNames lists the values of --clock.
func clockNames() string {
	var names []string
	for _, m := range judge.ClockModes {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

// leastWithClock is how many ids are needed to see that a clock has moved: in either half
// far more than what programs and pipes hold back.
const leastWithClock = 30_000

// complete checks the options, and sets the number of ids and the time unless they were
// given.
func (o *options) complete(ids, duration bool) error {
	moves := o.clock != judge.Running && o.clock != judge.Frozen
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
	case o.test == "fork" || o.test == "resume":
		o.ids = 10_000
	case o.order:
		o.ids = 1 << 24
	case moves:
		o.ids = 50_000
	default:
		o.ids = 1_000_000
	}
	if o.test == "ids" && o.clock == judge.Running && !duration {
		o.duration = 6 * time.Second
	}
	return nil
}
