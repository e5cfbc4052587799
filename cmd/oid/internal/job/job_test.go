//go:build unix

package job_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/cmd/oid/internal/job"
)

// lease is a lease without a lock. It ends with its context, or at its deadline.
type lease struct {
	ctx      context.Context
	deadline time.Time
	groups   chan int
}

func (l *lease) Context() context.Context { return l.ctx }
func (l *lease) Deadline() time.Time      { return l.deadline }
func (l *lease) Check() error             { return l.ctx.Err() }
func (l *lease) SetGroup(pgid int) error  { l.groups <- pgid; return nil }

// reports are what Run has reported.
type reports chan string

func (r reports) options() job.Options {
	return job.Options{
		Margin: 100 * time.Millisecond, Grace: 100 * time.Millisecond,
		Expiring: func(time.Duration) { r <- "expiring" },
		Left:     func() { r <- "left" },
		Refused:  func(err error) { r <- err.Error() },
	}
}

func TestRun(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	const stubborn = "trap '' TERM; while :; do sleep 0.01; done"
	for name, test := range map[string]struct {
		script string
		ctx    context.Context
		left   time.Duration // until the command is to be killed; 0 for no deadline
		leave  bool
		max    time.Duration
		want   job.End
		err    error
		report string
	}{
		"done":     {script: "exit 0"},
		"code":     {script: "exit 3", want: job.End{Code: 3}},
		"signal":   {script: "kill -9 $$", want: job.End{Signal: syscall.SIGKILL}},
		"deadline": {script: stubborn, left: 400 * time.Millisecond, want: job.End{Lost: true}, report: "expiring"},
		"session":  {script: "setsid sh -c '" + strings.ReplaceAll(stubborn, "'", `'\''`) + "' & exit 3", left: 400 * time.Millisecond, want: job.End{Lost: true}, report: "expiring"},
		"left":     {script: "sleep 1.5 & exit 3", want: job.End{Code: 3}, report: "left"},
		"leave":    {script: "sleep 3 & exit 3", leave: true, want: job.End{Code: 3}},
		"max":      {script: stubborn, max: 300 * time.Millisecond, want: job.End{Late: true}},
		"max, 0":   {script: "trap 'exit 0' TERM; while :; do sleep 0.01; done", max: 300 * time.Millisecond, want: job.End{Late: true}},
		"max left": {script: "setsid sh -c '" + strings.ReplaceAll(stubborn, "'", `'\''`) + "' & exit 0", max: 300 * time.Millisecond, want: job.End{Late: true}},
		"max lost": {script: stubborn, max: 100 * time.Millisecond, left: time.Second, want: job.End{Lost: true}, report: "expiring"},
		"lost max": {script: stubborn, max: 500 * time.Millisecond, left: time.Second, want: job.End{Lost: true}, report: "expiring"},
		"too late": {script: "echo ran", ctx: ended, want: job.End{Lost: true}, err: context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath("setsid"); err != nil && strings.Contains(test.script, "setsid") {
				t.Skip("there is no setsid on this system")
			}
			l := &lease{ctx: t.Context(), groups: make(chan int, 1)}
			if test.ctx != nil {
				l.ctx = test.ctx
			}
			said := make(reports, 10)
			o := said.options()
			o.Leave, o.Max = test.leave, test.max
			if test.max > 0 && test.left > 0 {
				o.Grace = 600 * time.Millisecond // --max passes and the lease ends while the command is being ended
			}
			if test.left > 0 {
				o.Margin = 20 * time.Second // more than a busy machine is late
				l.deadline = time.Now().Add(test.left + o.Margin)
			}
			signals := job.CatchSignals()
			began := time.Now()
			got, err := job.Run(exec.Command("sh", "-c", test.script), l, signals, o)
			if !errors.Is(err, test.err) || test.want.Lost != got.Lost || !got.Lost && test.want.Late != got.Late || !got.Lost && !got.Late && got != test.want {
				t.Errorf("Run: %+v, %v; want %+v, %v", got, err, test.want, test.err)
			}
			if test.left > 0 && time.Now().After(l.deadline) {
				t.Error("it ended after the lease")
			}
			if took := time.Since(began); name == "left" && took < 1500*time.Millisecond || (test.leave || test.max > 0) && took > 2500*time.Millisecond {
				t.Errorf("it took %v", took)
			}
			close(said)
			if report := <-said; report != test.report {
				t.Errorf("reported %q, want %q", report, test.report)
			}
			if test.left > 0 && <-l.groups <= 0 { // others may end before it is recorded
				t.Error("no group was recorded")
			}
		})
	}
}

// A program that does not exist or cannot be run is an error, and a command inherits its
// files and environment.
func TestRunStarts(t *testing.T) {
	l := &lease{ctx: t.Context(), groups: make(chan int, 9)}
	said := make(reports, 10)
	for path, want := range map[string]error{"./missing": fs.ErrNotExist, "no such program": fs.ErrNotExist, "/dev/null": fs.ErrPermission} {
		if got, err := job.Run(exec.Command(path), l, job.CatchSignals(), said.options()); !errors.Is(err, want) || got.Lost {
			t.Errorf("Run of %s: %+v, %v; want %v", path, got, err, want)
		}
	}
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "cat; echo $JOB $0", "name")
	cmd.Stdin, cmd.Stdout, cmd.Env = strings.NewReader(""), out, []string{"JOB=value"}
	if got, err := job.Run(cmd, l, job.CatchSignals(), said.options()); err != nil || got != (job.End{}) {
		t.Errorf("Run: %+v, %v", got, err)
	}
	out.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(in); err != nil || text.String() != "value name\n" {
		t.Errorf("the command wrote %q, %v", text.String(), err)
	}
}

// What ignores SIGTERM has all of the grace and is killed then, also with Leave if it is
// not the command itself.
func TestRunGrace(t *testing.T) {
	const stubborn = `trap "" TERM; echo; while :; do sleep 0.01; done`
	for name, script := range map[string]string{
		"command": stubborn,
		"child":   "sh -c '" + stubborn + "' & while :; do sleep 0.01; done",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			ctx, end := context.WithCancel(t.Context())
			defer end()
			ended := make(chan time.Time, 1)
			go func() {
				_, _ = in.Read(make([]byte, 1))
				ended <- time.Now()
				end()
			}()
			o := make(reports, 10).options()
			o.Grace, o.Leave = 300*time.Millisecond, true
			cmd := exec.Command("sh", "-c", script)
			cmd.Stdout = out
			if got, err := job.Run(cmd, &lease{ctx: ctx, groups: make(chan int, 1)}, job.CatchSignals(), o); err != nil || !got.Lost {
				t.Errorf("Run: %+v, %v; want that the lease was lost", got, err)
			}
			out.Close()
			if took := time.Since(<-ended); took < o.Grace {
				t.Errorf("it ended %v after the lease, want that what ignores SIGTERM has %v", took, o.Grace)
			}
		})
	}
}

// What is stopped, and what has a session of its own, is asked to end too, when the lease
// ends.
func TestRunAsksAll(t *testing.T) {
	for name, script := range map[string]string{
		"stopped": `trap 'echo >$ASKED; exit' TERM; echo; kill -STOP $$; while :; do sleep 0.01; done`,
		"session": `setsid sh -c 'trap "echo >$ASKED; exit" TERM; echo; while :; do sleep 0.01; done' & wait`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath("setsid"); err != nil && name == "session" {
				t.Skip("there is no setsid on this system")
			}
			asked := filepath.Join(t.TempDir(), "asked")
			in, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			defer out.Close()
			ctx, end := context.WithCancel(t.Context())
			defer end()
			go func() {
				_, _ = in.Read(make([]byte, 1))
				time.Sleep(100 * time.Millisecond) // it stops; if it has not yet, it is asked all the same
				end()
			}()
			l := &lease{ctx: ctx, groups: make(chan int, 1)}
			o := make(reports, 10).options()
			o.Grace = 20 * time.Second
			cmd := exec.Command("sh", "-c", script)
			cmd.Stdout, cmd.Env = out, append(os.Environ(), "ASKED="+asked)
			if got, err := job.Run(cmd, l, job.CatchSignals(), o); err != nil || !got.Lost {
				t.Errorf("Run: %+v, %v; want that the lease was lost", got, err)
			}
			if _, err := os.Stat(asked); err != nil {
				t.Errorf("it was not asked to end: %v", err)
			}
		})
	}
}

// A signal by which programs are asked to end is one for what the command has left, and
// others are passed on.
func TestRunSignalsWhatIsLeft(t *testing.T) {
	for _, test := range []struct {
		signal syscall.Signal
		code   string // of the command
		want   job.End
	}{
		{syscall.SIGUSR1, "0", job.End{}},
		{syscall.SIGUSR2, "0", job.End{}},
		{syscall.SIGINT, "0", job.End{Signal: syscall.SIGINT}},
		{syscall.SIGTERM, "3", job.End{Code: 3}},
	} {
		t.Run(test.signal.String(), func(t *testing.T) {
			t.Parallel()
			in, release, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			l := &lease{ctx: t.Context(), groups: make(chan int, 1)}
			said, signals := make(reports, 10), job.CatchSignals()
			go func() {
				<-said // left
				signals <- test.signal
				for len(signals) > 0 {
					time.Sleep(time.Millisecond)
				}
				release.Close()
			}()
			cmd := exec.Command("sh", "-c", "exec 3<&0; (trap '' USR1 USR2; exec cat <&3) & exit "+test.code)
			cmd.Stdin = in
			if got, err := job.Run(cmd, l, signals, said.options()); err != nil || got != test.want {
				t.Errorf("Run: %+v, %v; want %+v", got, err, test.want)
			}
		})
	}
}
