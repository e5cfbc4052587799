package job_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/oidkit/oid/cmd/oid/internal/job"
)

// role says what this program is when a test has started it.
const role = "OID_JOB_TEST_ROLE"

func TestMain(m *testing.M) {
	command, isCommand := strings.CutPrefix(os.Getenv(role), "command ")
	host, isHost := strings.CutPrefix(os.Getenv(role), "host ")
	switch {
	case isCommand:
		runCommand(command)
	case isHost:
		runHost(host)
	default:
		os.Exit(m.Run())
	}
}

// runCommand is the command. A tidy one says that it was asked to end, and ends. A brief one waits
// only for a moment. A stubborn one goes on. A parent leaves a command of the next kind.
func runCommand(options string) {
	kind, others, _ := strings.Cut(options, " ")
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt)
	switch kind {
	case "parent":
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), role+"=command "+others)
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			panic(err)
		}
		os.Exit(5)
	case "tidy", "brief":
		patience := time.Minute
		if kind == "brief" {
			patience = 2 * time.Second
		}
		fmt.Println("began")
		select {
		case <-asked:
			time.Sleep(50 * time.Millisecond)
			fmt.Println("tidied up")
		case <-time.After(patience):
			fmt.Println("nobody asked")
		}
		os.Exit(5)
	}
	fmt.Println("began")
	time.Sleep(time.Minute)
}

// lease is a lease without a lock.
type lease struct {
	ctx      context.Context
	deadline time.Time
}

func (l *lease) Context() context.Context { return l.ctx }
func (l *lease) Deadline() time.Time      { return l.deadline }
func (l *lease) Check() error             { return l.ctx.Err() }
func (l *lease) SetGroup(int) error       { return nil }

// runHost runs a command under a lease, in place of oid. When it reads a byte, it
// sends Ctrl-C to its console, or Ctrl-Break to its process group.
func runHost(options string) {
	has := func(option string) bool { return slices.Contains(strings.Fields(options), option) }
	l := &lease{ctx: context.Background()}
	grace := 10 * time.Second
	if has("stubborn") {
		grace = time.Second
	}
	if has("lost") {
		l.deadline = time.Now().Add(4*time.Second + grace)
	}
	signals := job.CatchSignals()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"=command "+options)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	go func() {
		if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
			return
		}
		event, group := uint32(windows.CTRL_C_EVENT), 0
		if has("break") {
			event, group = windows.CTRL_BREAK_EVENT, os.Getpid()
		}
		if err := windows.GenerateConsoleCtrlEvent(event, uint32(group)); err != nil {
			fmt.Println(err)
		}
	}()
	end, err := job.Run(cmd, l, signals, job.Options{
		Margin: time.Second, Grace: grace, Leave: has("leave"),
		Expiring: func(time.Duration) {}, Left: func() {
			if has("brief") { // otherwise it may end before this is said
				fmt.Println("left")
			}
		}, Refused: func(err error) { fmt.Println(err) },
	})
	if end.Lost {
		end.Code = 0
	}
	fmt.Println("end", end.Lost, end.Code, err)
}

// TestRun: a command gets what its console tells it, and time to tidy up. All its processes end
// before Run does, and with the process that runs it.
func TestRun(t *testing.T) {
	const done, lost = "end false 5 <nil>", "end true 0 <nil>"
	for name, test := range map[string]struct {
		options string
		flags   uint32 // of the process that runs the command
		begun   string // what happens when the command has begun
		want    []string
	}{
		"done":               {"brief", 0, "", []string{"began", "nobody asked", done}},
		"Ctrl-C":             {"tidy", 0, "event", []string{"began", "tidied up", done}},
		"Ctrl-C is ignored":  {"brief", windows.CREATE_NEW_PROCESS_GROUP, "event", []string{"began", "nobody asked", done}},
		"Ctrl-Break":         {"tidy break", windows.CREATE_NEW_PROCESS_GROUP, "event", []string{"began", "tidied up", done}},
		"lost":               {"tidy lost", 0, "", []string{"began", "tidied up", lost}},
		"lost, stubborn":     {"stubborn lost", 0, "", []string{"began", lost}},
		"children":           {"parent brief", 0, "", []string{"began", "left", "nobody asked", done}},
		"children, Ctrl-C":   {"parent tidy", 0, "event", []string{"began", "tidied up", done}},
		"children, lost":     {"parent tidy lost", 0, "", []string{"began", "tidied up", lost}},
		"children, stubborn": {"parent stubborn lost", 0, "", []string{"began", lost}},
		"children, --leave":  {"parent brief leave", 0, "", []string{"began", done, "nobody asked"}},
		"killed":             {"tidy", 0, "kill", []string{"began"}},
		"children, killed":   {"parent tidy", 0, "kill", []string{"began"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(test.options, "break") && os.Getenv("WINEPREFIX") != "" {
				t.Skip("Wine 8 has no Ctrl-Break")
			}
			host := exec.Command(os.Args[0])
			host.Env = append(os.Environ(), role+"=host "+test.options)
			host.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW | test.flags} // with a console of its own
			in, err := host.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := host.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			host.Stderr = os.Stderr
			if err := host.Start(); err != nil {
				t.Fatal(err)
			}
			var said []string
			for lines := bufio.NewScanner(out); lines.Scan(); { // until all processes have ended
				said = append(said, lines.Text())
				if lines.Text() != "began" {
					continue
				}
				switch test.begun {
				case "event":
					_, err = io.WriteString(in, "x")
				case "kill":
					err = host.Process.Kill()
				}
				if err != nil {
					t.Error(err)
				}
			}
			_ = host.Wait()
			if strings.Contains(test.options, "leave") { // the end was said while the child ran
				if i := slices.Index(said, done); i < 0 || i == len(said)-1 {
					t.Errorf("%q, want the end before the last line", said)
				}
				slices.Sort(said)
			}
			if !slices.Equal(said, test.want) {
				t.Errorf("%q, want %q", said, test.want)
			}
		})
	}
}
