package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/verify"
	"github.com/oidkit/oid/server/wire"
)

const verifyHelp = `Run COMMAND, which creates ids with any library in any language, and judge them: whether
ids repeat, increase, carry the time of the clock and one process value for each
process, and count up by one. Each promise that is broken is shown with an example and
with what it means. COMMAND runs as --copies processes at once.

COMMAND writes ids to standard output, one on each line: 24 hexadecimal digits, or JSON.
It goes on for ever or ends after as many as the environment variable OID_VERIFY_IDS
says. It writes each id when it is created, from one thread. OID_VERIFY says what else
to do:

  ids          that is all
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

Exit codes: 0 all promises hold, 1 one is broken or COMMAND failed, 2 wrong use or
COMMAND cannot be started.`

// verifyOptions are the flags of oid verify.
type verifyOptions struct {
	ids     int64
	copies  int
	clock   verify.ClockMode
	test    string // ids, fork, decode or decode-json
	timeout time.Duration
	quiet   bool
	command []string
}

func newVerifyCommand(std streams) *cobra.Command {
	var (
		o             verifyOptions
		clock, decode string
		fork          bool
		asJSON        jsonFlag
	)
	cmd := &cobra.Command{
		Use:   "verify [flags] -- COMMAND [ARG...]",
		Short: "Judge the ids that any program creates",
		Long:  verifyHelp,
		Example: `  oid verify -- oid new -n 1000000
  oid verify --copies 8 -- python3 ids.py
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
			case (fork || decode != "") && (changed("copies") || changed("clock")):
				return usagef("--copies and --clock do not go with --fork and --decode")
			case decode != "" && changed("ids"):
				return usagef("--ids does not go with --decode")
			}
			o.command, o.test = args, "ids"
			if clock != "" {
				mode, err := clocks.find("--clock", clock)
				if err != nil {
					return err
				}
				o.clock = mode
			}
			if decode != "" {
				test, err := decodings.find("--decode", decode)
				if err != nil {
					return err
				}
				o.test = test
			}
			if fork {
				o.test = "fork"
			}
			if err := o.complete(changed("ids")); err != nil {
				return err
			}
			v, err := o.run(cmd.Context(), std)
			if err != nil {
				return err
			}
			if err := asJSON.emit(std.out, v, func(w io.Writer) error { return writeVerification(w, v) }); err != nil {
				return err
			}
			if !v.Holds {
				return errReported
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.Int64Var(&o.ids, "ids", 0, "`NUMBER` of ids of each process (default 1000000; 50000 with a clock that moves, 10000 with --fork)")
	f.IntVar(&o.copies, "copies", 2, "processes that run COMMAND at once")
	f.StringVar(&clock, "clock", "", "what the clock of COMMAND does: "+clocks.names())
	f.BoolVar(&fork, "fork", false, "judge what a fork does to the generator")
	f.StringVar(&decode, "decode", "", "judge what is read as an id: text or json")
	f.Lookup("decode").NoOptDefVal = "text"
	f.DurationVar(&o.timeout, "timeout", 30*time.Second, "longest time without a line of COMMAND")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	asJSON.addFlag(cmd, jsonObject)
	clocks.complete(cmd, "clock")
	decodings.complete(cmd, "decode")
	return cmd
}

var (
	clocks    = stringForms(verify.ClockModes)
	decodings = forms[string]{{"text", "decode"}, {"json", "decode-json"}}
)

// leastWithClock is how many ids are needed to see that a clock has moved: far more than
// what programs and pipes hold back.
const leastWithClock = 20_000

// complete checks the options, and sets the number of ids unless it was given.
func (o *verifyOptions) complete(given bool) error {
	moves := o.clock != verify.Running && o.clock != verify.Frozen
	switch {
	case given && o.ids < 1:
		return usagef("--ids %d: want 1 or more", o.ids)
	case given && moves && o.ids < leastWithClock:
		return usagef("--ids %d: with --clock %s want %d or more, so that ids are created after the clock has moved", o.ids, o.clock, leastWithClock)
	case o.copies < 1 || o.copies > 100:
		return usagef("--copies %d: want 1 to 100", o.copies)
	case o.timeout <= 0:
		return usagef("--timeout %v: want more than 0", o.timeout)
	case given:
	case o.test == "fork":
		o.ids = 10_000
	case moves:
		o.ids = 50_000
	default:
		o.ids = 1_000_000
	}
	return nil
}

// run runs the test and returns the judgement.
func (o *verifyOptions) run(ctx context.Context, std streams) (wire.Verification, error) {
	began := time.Now()
	v := wire.Verification{Command: o.command, Test: o.test, Clock: string(o.clock)}
	var results []verify.Result
	var err error
	switch o.test {
	case "ids":
		v.Processes = o.copies
		results, v.IDs, err = o.judgeCopies(ctx, std)
	case "fork":
		results, v.Processes, v.IDs, err = o.judgeFork(ctx, std)
	default:
		v.Processes = 1
		results, v.IDs, err = o.judgeDecoding(ctx, std)
	}
	if err != nil {
		return v, err
	}
	v.TookSeconds = time.Since(began).Seconds()
	v.Holds = true
	for _, r := range results {
		v.Holds = v.Holds && r.State != verify.Broken
		v.Promises = append(v.Promises, wire.Promise{
			Promise: string(r.Promise), Text: r.Promise.Text(), State: string(r.State),
			Times: r.Count, Example: r.Example, Meaning: r.Meaning,
		})
	}
	return v, nil
}

// writeVerification writes a judgement for people.
func writeVerification(w io.Writer, v wire.Verification) error {
	var b strings.Builder
	what := phrase.Count(v.IDs, "id", "ids")
	if strings.HasPrefix(v.Test, "decode") {
		what = phrase.Count(v.IDs, "answer", "answers")
	}
	fmt.Fprintf(&b, "%s of %s in %.1f s", what, phrase.Count(int64(v.Processes), "process", "processes"), v.TookSeconds)
	if v.Clock != "" {
		fmt.Fprintf(&b, ", clock %s", v.Clock)
	}
	b.WriteByte('\n')
	broken := 0
	for _, p := range v.Promises {
		switch verify.State(p.State) {
		case verify.Broken:
			broken++
			fmt.Fprintf(&b, "  BROKEN  %s: %s\n          %s\n          %s\n", p.Text, phrase.Count(p.Times, "time", "times"), printable(p.Example), p.Meaning)
		case verify.Unseen:
			fmt.Fprintf(&b, "  unseen  %s: %s\n", p.Text, p.Meaning)
		default:
			fmt.Fprintf(&b, "  holds   %s\n", p.Text)
		}
	}
	if v.Holds {
		b.WriteString("all that was seen holds\n")
	} else {
		fmt.Fprintf(&b, "%s broken: %s\n", phrase.Count(int64(broken), "promise is", "promises are"), strings.Join(slices.Compact(brokenNames(v)), ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// brokenNames returns the names of the promises that are broken.
func brokenNames(v wire.Verification) (names []string) {
	for _, p := range v.Promises {
		if p.State == string(verify.Broken) {
			names = append(names, p.Promise)
		}
	}
	return names
}
