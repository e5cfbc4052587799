//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
)

func TestLockLine(t *testing.T) {
	const owner = "10.0.0.7:8080:1795166651598985:4711/507f1f77bcf86cd799439011"
	parsed, err := lock.ParseOwner(owner)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	held := lock.Status{Name: "job", Held: true, Owner: parsed, Fence: 17, Since: now.Add(-90 * time.Second)}
	const line = "job: held by " + owner + " since 2026-11-21T11:58:30Z (1m30s), fence 17"
	for name, test := range map[string]struct {
		change func(*lock.Status)
		want   string
	}{
		"free":    {func(s *lock.Status) { *s = lock.Status{Name: "job", Waiters: 3} }, "job: free"},
		"held":    {func(*lock.Status) {}, line},
		"ttl":     {func(s *lock.Status) { s.TTL = 29_960 * time.Millisecond }, line + ", ttl 30s"},
		"waiters": {func(s *lock.Status) { s.Waiters = 1 }, line + ", 1 waiting"},
		"host":    {func(s *lock.Status) { s.Holder.Host = "vm" }, line + "\n  pid 4711 on vm"},
		"alive":   {func(s *lock.Status) { s.Holder = lock.Holder{Host: "vm", State: lock.StateAlive} }, line + "\n  pid 4711 on vm, alive"},
		"ended": {func(s *lock.Status) {
			s.Holder, s.TTL = lock.Holder{Host: "vm", State: lock.StateEnded}, time.Second
		}, line + ", ttl 1s\n  pid 4711 on vm, ended"},
		"file":     {func(s *lock.Status) { s.Holder = lock.Holder{Host: "vm", State: lock.StateEnded} }, line + "\n  pid 4711 on vm, ended, but processes of its command still run"},
		"command":  {func(s *lock.Status) { s.Holder = lock.Holder{Host: "vm", Command: "make all"} }, line + "\n  pid 4711 on vm: make all"},
		"escapes":  {func(s *lock.Status) { s.Holder = lock.Holder{Host: "v\x1bm", Command: "a\x1b[2J"} }, line + "\n  pid 4711 on " + phrase.Shown("v\x1bm") + ": " + phrase.Shown("a\x1b[2J")},
		"tomorrow": {func(s *lock.Status) { s.Since = now.Add(time.Second) }, strings.Replace(line, "11:58:30Z (1m30s)", "12:00:01Z (0s)", 1)},
	} {
		s := held
		test.change(&s)
		if got := lockLine(s, now, &zone{time.UTC}); got != test.want || strings.Contains(got, "\x1b") {
			t.Errorf("%s:\n%q, want\n%q", name, got, test.want)
		}
	}
}

// oid was killed, and its command with it: the lock is held for the rest of its TTL,
// and the status says that nobody is there.
func TestLockStatusOfAKilledOid(t *testing.T) {
	url := testenv.Redis(t).URL()
	where := []string{"--locks", url}
	h := startLock(t, nil, append([]string{"job", "--ttl", "10m"}, append(where, "--", "sh", "-c", "echo held; exec sleep 1000")...)...)
	h.line()
	awaitGroup(t, url)
	_ = h.cmd.Process.Kill()
	h.code()
	for flag, want := range map[string]string{"": ", ended: oid lock job --", "--json": `"state":"ended"`} {
		testenv.Await(t, "status", func() error {
			args := append([]string{"--status", "job"}, where...)
			if flag != "" {
				args = append(args, flag)
			}
			s := startLock(t, nil, args...)
			var text strings.Builder
			for s.lines.Scan() {
				text.WriteString(s.lines.Text() + "\n")
			}
			if s.code(); !strings.Contains(text.String(), want) {
				return fmt.Errorf("%q, want it to contain %q", text.String(), want)
			}
			return nil
		})
	}
}

// awaitGroup waits until the lock "job" names the group of its command, which is
// recorded while the command begins. Without it nobody can tell whether it has ended.
func awaitGroup(t *testing.T, url string) {
	t.Helper()
	engine, err := lockEngineOf(url)
	if err != nil {
		t.Fatal(err)
	}
	l, err := engine.open(t.Context(), streams{}, url, lock.DefaultTTL)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	testenv.Await(t, "the group of the command", func() error {
		s, err := l.Status(t.Context(), "job")
		if err == nil && s.Holder.Group <= 0 {
			err = fmt.Errorf("group %d", s.Holder.Group)
		}
		return err
	})
}
