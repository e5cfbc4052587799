package holder_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/holder"
)

// process is a process that runs until end is called, in a group of its own.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	gpid.Process
}

func start(t *testing.T) *process {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: cmd}
	t.Cleanup(p.end)
	var err error
	if p.Process, err = gpid.ProcessOf(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	return p
}

// end kills p and waits for it.
func (p *process) end() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// zombie kills p and does not wait for it as its parent.
func (p *process) zombie() {
	p.t.Helper()
	_ = p.cmd.Process.Kill()
	testenv.Await(p.t, "end of a process", func() error {
		if alive, err := p.Alive(); alive || err != nil {
			return errors.Join(errors.New("it runs"), err)
		}
		return nil
	})
}

func TestSelf(t *testing.T) {
	here, err := gpid.ProcessOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	if got, want := holder.Self(lock.AcquireOptions{}), (lock.Holder{Host: host, Process: here}); got != want {
		t.Errorf("Self = %+v, want %+v", got, want)
	}
	long := strings.Repeat("x", 1024)
	got := holder.Self(lock.AcquireOptions{Command: long + "y", Group: true})
	if want := (lock.Holder{Host: host, Process: here, Command: long, Group: -1}); got != want {
		t.Errorf("Self with a long command = %+v, want its first %d bytes and group -1", got, len(long))
	}
}

func TestState(t *testing.T) {
	running, ended, other := start(t), start(t), start(t)
	ended.end()
	elsewhere := running.Process
	elsewhere.Boot = "another"
	for name, test := range map[string]struct {
		h    lock.Holder
		want lock.State
	}{
		"nobody":                             {lock.Holder{}, lock.StateUnknown},
		"running":                            {lock.Holder{Process: running.Process}, lock.StateAlive},
		"running, group to come":             {lock.Holder{Process: running.Process, Group: -1}, lock.StateAlive},
		"ended":                              {lock.Holder{Process: ended.Process}, lock.StateEnded},
		"ended, group to come":               {lock.Holder{Process: ended.Process, Group: -1}, lock.StateUnknown},
		"ended, group runs":                  {lock.Holder{Process: ended.Process, Group: other.PID}, lock.StateAlive},
		"ended, group ended":                 {lock.Holder{Process: ended.Process, Group: ended.PID}, lock.StateEnded},
		"on another host or in another boot": {lock.Holder{Process: elsewhere}, lock.StateUnknown},
		"elsewhere, its group's number is in use here": {lock.Holder{Process: elsewhere, Group: other.PID}, lock.StateUnknown},
	} {
		if got := holder.State(test.h); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	other.zombie()
	if got := holder.State(lock.Holder{Process: ended.Process, Group: other.PID}); got != lock.StateEnded {
		t.Errorf("a group of which only a zombie is left: %q, want ended", got)
	}
}

// watch watches h and returns the channel for what comes of it.
func watch(ctx context.Context, h lock.Holder) chan error {
	done := make(chan error, 1)
	go func() { done <- holder.Watch(ctx, h) }()
	return done
}

// goesOn checks that nothing comes of a watch for a while.
func goesOn(t *testing.T, done chan error) {
	t.Helper()
	select {
	case err := <-done:
		t.Fatalf("Watch: %v, though the holder runs", err)
	case <-time.After(100 * time.Millisecond):
	}
}

func TestWatch(t *testing.T) {
	one, group := start(t), start(t)
	alone := watch(t.Context(), lock.Holder{Process: one.Process})
	both := watch(t.Context(), lock.Holder{Process: one.Process, Group: group.PID})
	goesOn(t, alone)
	goesOn(t, both)
	one.end()
	if err := <-alone; err != nil {
		t.Errorf("Watch of a process that has ended: %v", err)
	}
	goesOn(t, both)
	group.zombie()
	if err := <-both; err != nil {
		t.Errorf("Watch of a process and a group that have ended: %v", err)
	}
	if err := holder.Watch(t.Context(), lock.Holder{Process: one.Process}); err != nil {
		t.Errorf("Watch of a process that had ended before: %v", err)
	}
}

func TestWatchEndsWithItsContext(t *testing.T) {
	one, group := start(t), start(t)
	ended := start(t)
	ended.end()
	ctx, cancel := context.WithCancel(t.Context())
	all := []chan error{
		watch(ctx, lock.Holder{Process: one.Process}),
		watch(ctx, lock.Holder{Process: ended.Process, Group: group.PID}),
	}
	for _, done := range all {
		goesOn(t, done)
	}
	cancel()
	for _, done := range all {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Watch: %v, want Canceled", err)
		}
	}
}

func TestWatchRefuses(t *testing.T) {
	one := start(t)
	elsewhere := one.Process
	elsewhere.Namespace++
	for name, test := range map[string]struct {
		h    lock.Holder
		want error
	}{
		"nobody":            {lock.Holder{}, errors.ErrUnsupported},
		"group to come":     {lock.Holder{Process: one.Process, Group: -1}, errors.ErrUnsupported},
		"another namespace": {lock.Holder{Process: elsewhere}, gpid.ErrElsewhere},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if err := holder.Watch(ctx, test.h); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
		cancel()
	}
}
