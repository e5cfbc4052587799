package filelock_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/filelock"
	"github.com/oidkit/oid/lock/internal/locktest"
)

func open(t *testing.T, dir string) *filelock.Locker {
	t.Helper()
	l, err := filelock.New(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestSuite(t *testing.T) {
	name := "a [folder]*"
	if runtime.GOOS == "windows" { // where no name has a *
		name = "a [folder]"
	}
	for kind, folder := range folders {
		t.Run(kind, func(t *testing.T) {
			locktest.Run(t, func(t *testing.T) func(func(lock.Event)) lock.Locker {
				dir := folder(t, filepath.Join(name, "locks"))
				return func(events func(lock.Event)) lock.Locker {
					l, err := filelock.New(dir, &filelock.Options{Events: events})
					if err != nil {
						t.Fatal(err)
					}
					return l
				}
			})
		})
	}
}

// folders return the path of a folder for locks: one that New creates for this user, and one for
// all users.
var folders = map[string]func(t *testing.T, name string) string{
	"own": func(t *testing.T, name string) string { return filepath.Join(t.TempDir(), name) },
	"shared": func(t *testing.T, name string) string {
		dir := filepath.Join(t.TempDir(), name)
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, fs.ModeSticky|0o777)); err != nil {
			t.Fatal(err)
		}
		return dir
	},
}

// TestMain makes the program a holder if it was started as one.
func TestMain(m *testing.M) {
	if dir := os.Getenv("OID_FILELOCK_HOLDER"); dir != "" {
		l, err := filelock.New(dir, nil)
		if err == nil {
			var lease *lock.Lease
			if lease, err = l.Acquire(context.Background(), "job", nil); err == nil {
				fmt.Println(lease.Fence())
				select {}
			}
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestKilledHolderFreesTheLock(t *testing.T) {
	for kind, folder := range folders {
		t.Run(kind, func(t *testing.T) { killedHolder(t, folder(t, "locks")) })
	}
}

func killedHolder(t *testing.T, dir string) {
	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), "OID_FILELOCK_HOLDER="+dir)
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	var fence uint64
	if s := bufio.NewScanner(out); s.Scan() {
		fmt.Sscan(s.Text(), &fence)
	}
	l := open(t, dir)
	if s, err := l.Status(t.Context(), "job"); err != nil || !s.Held || s.Fence != fence || s.Owner.Process.PID() != holder.Process.Pid {
		t.Errorf("Status = %+v, %v; want it held by process %d with fence %d", s, err, holder.Process.Pid, fence)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait()
	if s, err := l.Status(t.Context(), "job"); err != nil || s.Held {
		t.Errorf("Status after kill -9 of the holder = %+v, %v", s, err)
	}
	if all, err := l.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("List after kill -9 of the holder = %+v, %v", all, err)
	}
	lease, err := l.TryAcquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatalf("TryAcquire after kill -9 of the holder: %v", err)
	}
	if lease.Fence() <= fence {
		t.Errorf("fence %d after %d", lease.Fence(), fence)
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}

// A fence ahead of the clock, which was set back, is followed by the next.
func TestFenceIsKeptInTheFile(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	first, err := l.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(paths) != 1 {
		t.Fatalf("records %q, want one", paths)
	}
	const ahead = 4_000_000_000_000_000 // in the year 2096
	if err := os.WriteFile(paths[0], fmt.Appendf(nil, `{"name":"job","fence":%d}`, uint64(ahead)), 0o600); err != nil {
		t.Fatal(err)
	}
	next, err := open(t, dir).Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	if next.Fence() != ahead+1 {
		t.Errorf("fence %d, want %d", next.Fence(), uint64(ahead+1))
	}
	if err := next.Release(); err != nil {
		t.Error(err)
	}
	last := acquire(t, l, "job", nil)
	if last.Fence() != ahead+2 {
		t.Errorf("fence %d after a release, want %d", last.Fence(), uint64(ahead+2))
	}
	release(t, last)
}

func TestRemovedFileLosesTheLock(t *testing.T) {
	for _, again := range []bool{false, true} { // another process makes and takes it
		t.Run(fmt.Sprint(again), func(t *testing.T) {
			dir := t.TempDir()
			l := open(t, dir)
			lease := acquire(t, l, "job", nil)
			if err := os.Remove(only(t, dir, "*.lock")); err != nil {
				t.Fatal(err)
			}
			var next *lock.Lease
			if again {
				next = acquire(t, open(t, dir), "job", nil)
			}
			if err := lease.SetGroup(1); !errors.Is(err, lock.ErrLost) {
				t.Errorf("SetGroup: %v, want ErrLost", err)
			}
			select {
			case <-lease.Context().Done():
			case <-time.After(30 * time.Second):
				t.Fatal("the lease goes on though its file is gone")
			}
			if err := lease.Check(); !errors.Is(err, lock.ErrLost) {
				t.Errorf("Check: %v, want ErrLost", err)
			}
			if err := lease.Release(); !errors.Is(err, lock.ErrLost) {
				t.Errorf("Release: %v, want ErrLost", err)
			}
			if again {
				if s, err := l.Status(t.Context(), "job"); err != nil || s.Owner != next.Owner() {
					t.Errorf("Status = %+v, %v; want the next holder", s, err)
				}
				release(t, next)
			}
		})
	}
}

// New creates a folder for this user alone.
func TestNewFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "locks")
	open(t, dir)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestNewRefusesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.New(path, nil); err == nil {
		t.Error("New took a file for a folder")
	}
}

func TestFileLockedByAStranger(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	lease, err := l.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "*.lock"))
	stranger := flock.New(paths[0])
	if err := stranger.Lock(); err != nil {
		t.Fatal(err)
	}
	defer stranger.Unlock()
	began := time.Now()
	if _, err := l.TryAcquire(t.Context(), "job", nil); !errors.Is(err, lock.ErrHeld) {
		t.Errorf("TryAcquire: %v, want ErrHeld", err)
	}
	t.Logf("TryAcquire took %v", time.Since(began))
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	if _, err := l.Acquire(ctx, "job", nil); !errors.Is(err, lock.ErrHeld) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Acquire: %v, want ErrHeld and the end of its context", err)
	}
	if s, err := l.Status(t.Context(), "job"); err != nil || !s.Held || !s.Owner.IsZero() {
		t.Errorf("Status = %+v, %v; want it held by nobody known", s, err)
	}
	if all, err := l.List(t.Context()); err != nil || len(all) != 1 || all[0].Name != "job" || !all[0].Held {
		t.Errorf("List = %+v, %v; want the one lock", all, err)
	}
	if err := stranger.Unlock(); err != nil {
		t.Fatal(err)
	}
	if s, err := l.Status(t.Context(), "job"); err != nil || s.Held {
		t.Errorf("Status after the stranger = %+v, %v; want it free", s, err)
	}
}

// A folder without locks is not listed after Close either.
func TestListAfterClose(t *testing.T) {
	l, err := filelock.New(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.List(t.Context()); !errors.Is(err, lock.ErrClosed) {
		t.Errorf("List after Close: %v, want ErrClosed", err)
	}
}
