package filelock_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/lock"
)

// Where users share the folder, nobody can make another wait for the other end of a pipe.
func TestPipesAreNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	release(t, acquire(t, l, "job", nil))
	record := only(t, dir, "*.json")
	for _, path := range []string{record, strings.TrimSuffix(record, ".json") + ".lock"} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = l.Status(t.Context(), "job")
			if lease, err := l.TryAcquire(t.Context(), "job", nil); err == nil {
				_ = lease.Release()
			}
		}()
		select {
		case <-done:
		case <-time.After(30 * time.Second):
			t.Fatal("waits for the other end of ", path)
		}
	}
}

// Programs that the holder starts have its lock, until it is released.
func TestProgramsOfAHolder(t *testing.T) {
	for i, group := range []bool{false, true, false, true} {
		dir := folders[[]string{"own", "own", "shared", "shared"}[i]](t, "locks")
		l := open(t, dir)
		lease := acquire(t, l, "job", &lock.AcquireOptions{Group: group})
		path := only(t, dir, "*.lock")
		program := exec.Command("sh", "-c", `for f in /proc/$$/fd/*; do [ "$f" -ef "$0" ] && echo inherited; done; echo started; read x`, path)
		in, err := program.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := program.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		said := make([]byte, 100)
		n, err := out.Read(said)
		if err != nil || strings.HasPrefix(string(said[:n]), "inherited") != group {
			t.Errorf("group %v: %q, %v", group, said[:n], err)
		}
		release(t, lease)
		release(t, acquire(t, l, "job", nil))
		in.Close()
		_ = program.Wait()
	}
}

// A lock has an open file while a lease of this process has it.
func TestFilesOfALease(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	files := func() (n int) {
		t.Helper()
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			if path, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && strings.HasPrefix(path, dir) {
				n++
			}
		}
		return n
	}
	lease := acquire(t, l, "job", nil)
	if _, err := l.TryAcquire(t.Context(), "job", nil); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("TryAcquire: %v, want ErrHeld", err)
	}
	if n := files(); n != 1 {
		t.Errorf("%d files while it is held", n)
	}
	release(t, lease)
	if _, err := l.Status(t.Context(), "job"); err != nil {
		t.Error(err)
	}
	if n := files(); n != 0 {
		t.Errorf("%d files after its release", n)
	}
}

// A user of a shared folder cannot make the modes of files elsewhere wider, by a link to one in
// place of a lock.
func TestLinkToAFileElsewhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locks")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir)
	release(t, acquire(t, l, "job", nil))
	path, victim := only(t, dir, "*.lock"), filepath.Join(filepath.Dir(dir), "victim")
	for _, err := range []error{os.Remove(path), os.WriteFile(victim, []byte("kept"), 0o600), os.Link(victim, path)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	release(t, acquire(t, l, "job", nil))
	if info, err := os.Stat(victim); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file elsewhere: %v, %v", info.Mode(), err)
	}
}
