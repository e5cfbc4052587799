package filelock_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/filelock"
)

// acquire takes a lock that is free.
func acquire(t *testing.T, l *filelock.Locker, name string, o *lock.AcquireOptions) *lock.Lease {
	t.Helper()
	lease, err := l.TryAcquire(t.Context(), name, o)
	if err != nil {
		t.Fatalf("TryAcquire(%q): %v", name, err)
	}
	return lease
}

func release(t *testing.T, lease *lock.Lease) {
	t.Helper()
	if err := lease.Release(); err != nil {
		t.Errorf("Release of %q: %v", lease.Name(), err)
	}
}

// only returns the one file of a folder that matches pattern.
func only(t *testing.T, dir, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(paths) != 1 {
		t.Fatalf("files %s: %q, %v; want one", pattern, paths, err)
	}
	return paths[0]
}

// After a power failure a record may be empty or torn. The lock is taken as if it
// had none, the other locks are listed, and fences go on rising with the clock.
func TestTornRecordBlocksNobody(t *testing.T) {
	for name, torn := range map[string]string{
		"empty":               "",
		"cut off":             `{"version":1,"name":"job","ow`,
		"zeros":               strings.Repeat("\x00", 100),
		"not a record":        `[1, 2]`,
		"another lock's":      `{"version":1,"name":"other","fence":4000000000000000}`,
		"highest fence":       `{"version":1,"name":"job","fence":18446744073709551615}`,
		"owner cut in two":    `{"version":1,"name":"job","owner":"192.0.2.1:0"}`,
		"larger than allowed": `{"version":1,"name":"job","fence":4000000000000000,"command":"` + strings.Repeat("x", 300<<10) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := open(t, dir)
			first := acquire(t, l, "job", nil)
			release(t, first)
			if err := os.WriteFile(only(t, dir, "*.json"), []byte(torn), 0o600); err != nil {
				t.Fatal(err)
			}
			if s, err := l.Status(t.Context(), "job"); err != nil || s.Held {
				t.Errorf("Status: %+v, %v", s, err)
			}
			other := acquire(t, l, "held", nil)
			if all, err := l.List(t.Context()); err != nil || len(all) != 1 || all[0].Name != "held" {
				t.Errorf("List: %+v, %v; want the other lock alone", all, err)
			}
			release(t, other)
			next := acquire(t, l, "job", nil)
			if next.Fence() <= first.Fence() || next.Fence() > uint64(time.Now().UnixMicro()) {
				t.Errorf("fence %d after %d", next.Fence(), first.Fence())
			}
			release(t, next)
		})
	}
}

// While somebody holds the lock, a torn record says only that it is held.
func TestTornRecordOfAHolder(t *testing.T) {
	dir := t.TempDir()
	lease := acquire(t, open(t, dir), "job", nil)
	if err := os.WriteFile(only(t, dir, "*.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, dir).TryAcquire(t.Context(), "job", nil)
	var held *lock.HeldError
	if !errors.As(err, &held) || !held.Status.Held || !held.Status.Owner.IsZero() {
		t.Errorf("TryAcquire: %v, want it held by an unknown holder", err)
	}
	release(t, lease)
}

// A record of a newer version is neither misread nor overwritten.
func TestNewerRecordIsRefused(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which closes files that are left open
	dir := t.TempDir()
	l := open(t, dir)
	release(t, acquire(t, l, "job", nil))
	path := only(t, dir, "*.json")
	const newer = `{"version":2,"name":{"text":"job"},"fence":"4000000000000000"}`
	if err := os.WriteFile(path, []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"Acquire":    func() error { _, err := l.Acquire(t.Context(), "job", nil); return err },
		"TryAcquire": func() error { _, err := l.TryAcquire(t.Context(), "job", nil); return err },
		"Status":     func() error { _, err := l.Status(t.Context(), "job"); return err },
		"List":       func() error { _, err := l.List(t.Context()); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "version 2, this program knows versions up to 1; use a newer oid") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != newer {
		t.Errorf("the record is %q now, %v", got, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	release(t, acquire(t, l, "job", nil))
}

// Where users share the folder, nobody can make another overwrite a file.
func TestSymbolicLinksAreNotFollowed(t *testing.T) {
	dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	l := open(t, dir)
	release(t, acquire(t, l, "job", nil))
	record := only(t, dir, "*.json")
	for _, link := range []string{record, record + ".part", strings.TrimSuffix(record, ".json") + ".lock"} {
		t.Run(filepath.Ext(link), func(t *testing.T) {
			if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
				t.Fatal(err)
			}
			_ = os.Remove(link)
			if err := os.Symlink(victim, link); err != nil {
				t.Fatal(err)
			}
			lease, err := l.TryAcquire(t.Context(), "job", nil)
			if err == nil {
				release(t, lease)
			}
			if isLock := strings.HasSuffix(link, ".lock"); isLock != (err != nil) {
				t.Errorf("TryAcquire: %v", err)
			}
			if text, err := os.ReadFile(victim); err != nil || string(text) != "precious" {
				t.Errorf("the victim's file has %q, %v", text, err)
			}
			if err := os.Remove(link); err != nil {
				t.Fatal(err)
			}
		})
	}
	if err := os.Remove(victim); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, strings.TrimSuffix(record, ".json")+".lock"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.TryAcquire(t.Context(), "job", nil); err == nil {
		t.Error("a lock was taken through a symbolic link")
	}
	if _, err := os.Stat(victim); !os.IsNotExist(err) {
		t.Errorf("a file was made through a symbolic link: %v", err)
	}
}

// Users who share a folder can read each other's records and lock each other's
// files, whatever their umask is.
func TestFilesHaveThePermissionsOfTheFolder(t *testing.T) {
	for _, mode := range []os.FileMode{0o700, 0o750, 0o770} {
		dir := filepath.Join(t.TempDir(), "locks")
		if err := os.Mkdir(dir, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		release(t, acquire(t, open(t, dir), "job", nil))
		for _, pattern := range []string{"*.json", "*.lock"} {
			info, err := os.Stat(only(t, dir, pattern))
			if err != nil || info.Mode().Perm() != mode&0o666 {
				t.Errorf("in a folder with %v: %s has %v, %v", mode, pattern, info.Mode().Perm(), err)
			}
		}
	}
}

// What a holder leaves that is killed while it writes is removed by the next.
func TestPartsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	release(t, acquire(t, l, "job", nil))
	record := only(t, dir, "*.json")
	dead := fmt.Sprintf(`{"version":1,"name":"job","owner":"192.0.2.1:0:%d:1/507f1f77bcf86cd799439011","fence":1}`, time.Now().UnixMicro())
	if err := os.WriteFile(record, []byte(dead), 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other.json.123.part") // which its holder may be writing
	for _, part := range []string{record + ".123.part", other} {
		if err := os.WriteFile(part, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	release(t, acquire(t, l, "job", nil))
	if left, _ := filepath.Glob(filepath.Join(dir, "*.part")); !slices.Equal(left, []string{other}) {
		t.Errorf("left: %q, want that of the other lock", left)
	}
}

// A wait that ends names the holder, even if it ends before it began.
func TestEndedWaitNamesTheHolder(t *testing.T) {
	dir := t.TempDir()
	lease := acquire(t, open(t, dir), "job", &lock.AcquireOptions{Command: "backup --all"})
	for _, limit := range []time.Duration{-time.Second, time.Nanosecond, time.Millisecond, 30 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err := open(t, dir).Acquire(ctx, "job", nil)
		cancel()
		var held *lock.HeldError
		if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &held) || held.Status.Owner != lease.Owner() {
			t.Errorf("Acquire within %v: %v, want DeadlineExceeded and the holder", limit, err)
		} else if !strings.Contains(err.Error(), "backup --all") {
			t.Errorf("Acquire within %v: %v, want the holder's command", limit, err)
		}
	}
	release(t, lease)
}

func TestStatusDescribesTheHolder(t *testing.T) {
	dir := t.TempDir()
	lease := acquire(t, open(t, dir), "job", &lock.AcquireOptions{Command: "backup", Group: true})
	host, _ := os.Hostname()
	check := func(group int) {
		t.Helper()
		s, err := open(t, dir).Status(t.Context(), "job")
		if err != nil {
			t.Fatal(err)
		}
		h := s.Holder
		if h.Host != host || h.Command != "backup" || h.Group != group || h.Process.PID != os.Getpid() || h.State != lock.StateAlive {
			t.Errorf("holder %+v, want this process with group %d", h, group)
		}
	}
	check(-1)
	if err := lease.SetGroup(os.Getpid()); err != nil {
		t.Error(err)
	}
	check(os.Getpid())
	release(t, lease)
	if err := lease.SetGroup(1); !errors.Is(err, lock.ErrReleased) {
		t.Errorf("SetGroup after Release: %v, want ErrReleased", err)
	}
}

func TestEvents(t *testing.T) {
	events := make(chan lock.Event, 10)
	dir := t.TempDir()
	l, err := filelock.New(dir, &filelock.Options{Events: func(e lock.Event) { events <- e }})
	if err != nil {
		t.Fatal(err)
	}
	before := acquire(t, open(t, dir), "job", nil)
	go func() {
		if lease, err := l.Acquire(t.Context(), "job", nil); err == nil {
			_ = lease.Release()
		}
	}()
	for _, want := range []lock.EventKind{lock.EventWaiting, lock.EventAcquired, lock.EventReleased} {
		select {
		case e := <-events:
			if e.Kind != want || e.Name != "job" || e.Owner.IsZero() || (e.Fence == 0) != (want == lock.EventWaiting) {
				t.Errorf("event %+v, want %s", e, want)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("no event %s", want)
		}
		if want == lock.EventWaiting {
			release(t, before)
		}
	}
}

// A record that cannot be replaced leaves no part of it, and the lock is free.
func TestRecordThatCannotBeReplaced(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	release(t, acquire(t, l, "job", nil))
	record := only(t, dir, "*.json")
	if err := os.Remove(record); err != nil {
		t.Fatal(err)
	}
	lease := acquire(t, l, "job", nil)
	if err := errors.Join(os.Remove(record), os.MkdirAll(filepath.Join(record, "full"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(); err == nil {
		t.Error("Release: the record was not written")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	if err := os.RemoveAll(record); err != nil {
		t.Fatal(err)
	}
	release(t, acquire(t, l, "job", nil))
}

// To look at a lock that nobody has taken makes no file.
func TestStatusMakesNoFile(t *testing.T) {
	dir := t.TempDir()
	if s, err := open(t, dir).Status(t.Context(), "job"); err != nil || s.Held {
		t.Errorf("Status: %+v, %v", s, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("files: %v, %v", files, err)
	}
}
