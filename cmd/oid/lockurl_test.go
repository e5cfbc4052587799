package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/filelock"
	"github.com/oidkit/oid/lock/redislock"
)

// Each engine of locks is found by a URL of each of its schemes, is in the help, and says
// in an error how its URLs look.
func TestLockEngines(t *testing.T) {
	urls := map[string]string{ // by scheme
		"file": "file:/locks", "redis": "redis://cache:6379", "rediss": "rediss://cache:6379",
		"redis-sentinel": "redis-sentinel://a:1,b:2/master", "unix": "unix:///cache.sock",
		"rediss-sentinel": "rediss-sentinel://a:1/master", "valkey": "valkey://cache:6379", "valkeys": "valkeys://cache:6379",
		"sqlite": "sqlite:/data", "postgres": "postgres://h/d", "postgresql": "postgresql://h/d",
		"mongodb": "mongodb://h/d", "mongodb+srv": "mongodb+srv://h/d",
	}
	_, refused := lockEngineOf("nothing://user:secret@host")
	if usage := (usageError{}); !errors.As(refused, &usage) || strings.Contains(refused.Error(), "secret") {
		t.Fatalf("a URL of no engine: %v, want a usageError without the password", refused)
	}
	seen := make(map[string]string)
	for _, e := range lockEngines {
		if !strings.Contains(locksHelp, e.help) || !strings.Contains(refused.Error(), e.want) {
			t.Errorf("the engine of %v is missing in the help, or the error %q", e.schemes, refused)
		}
		for _, scheme := range e.schemes {
			if other, twice := seen[scheme]; twice {
				t.Errorf("%s is a scheme of two engines, %s and %s", scheme, other, e.want)
			}
			seen[scheme] = e.want
			url := urls[scheme]
			if url == "" {
				t.Errorf("no vector for locks with the scheme %s: add a URL to this test, and what it opens to TestLockEnginesOpen", scheme)
				continue
			}
			if got, err := lockEngineOf(url); err != nil || got.want != e.want {
				t.Errorf("%s is of the engine %q, %v; want %q", url, got.want, err, e.want)
			}
			if !strings.Contains(e.help, scheme+":") && !slices.Contains(storeSchemes, scheme) {
				t.Errorf("the help of the engine %s does not show a URL with %s:", e.want, scheme)
			}
		}
	}
	if !slices.Contains(lockEngines[0].schemes, "file") {
		t.Errorf("the default is %s, and its URL is file:", lockEngines[0].want)
	}
}

// Each engine of locks opens the backend that its URL names, and grants a lock there to one
// Locker at a time.
func TestLockEnginesOpen(t *testing.T) {
	folder := t.TempDir()
	places := map[string]struct { // by the first scheme of the engine
		url  func(*testing.T) string
		kind func(lock.Locker) bool
	}{
		"file":          {func(*testing.T) string { return "file:" + folder }, func(l lock.Locker) bool { _, is := l.(*filelock.Locker); return is }},
		"redis":         {func(t *testing.T) string { return testenv.Redis(t).URL() }, func(l lock.Locker) bool { _, is := l.(*redislock.Locker); return is }},
		storeSchemes[0]: {func(*testing.T) string { return "sqlite:" + filepath.Join(folder, "store") }, func(l lock.Locker) bool { _, is := l.(storeLocks); return is }},
	}
	for _, e := range lockEngines {
		t.Run(e.schemes[0], func(t *testing.T) {
			backend, found := places[e.schemes[0]]
			if !found {
				t.Fatalf("no vector for the engine with the scheme %s: add a URL and the type of its Locker to TestLockEnginesOpen", e.schemes[0])
			}
			url := backend.url(t)
			var lockers []lock.Locker
			for range 2 { // as two processes
				l, err := e.open(t.Context(), streams{}, url, lock.DefaultTTL)
				if err != nil {
					t.Fatalf("open %s: %v", url, err)
				}
				defer l.Close()
				lockers = append(lockers, l)
			}
			lease, err := lockers[0].TryAcquire(t.Context(), "engine", nil)
			if err != nil || !backend.kind(lockers[0]) {
				t.Fatalf("a lock of %s: %v, from a %T", url, err, lockers[0])
			}
			if _, err := lockers[1].TryAcquire(t.Context(), "engine", nil); !errors.Is(err, lock.ErrHeld) {
				t.Errorf("%s was opened twice, and a lock that one holds is granted to the other: %v, want ErrHeld", url, err)
			}
			if err := errors.Join(lease.Release(), lockers[0].Close(), lockers[1].Close()); err != nil {
				t.Errorf("%s: %v", url, err)
			}
		})
	}
}

// A URL with which no server can be reached is wrong use, and no reason to try again.
func TestLockURLThatCannotBeUsed(t *testing.T) {
	for url, want := range map[string]string{
		"redis://:secret@127.0.0.1:99999":             "99999: invalid port",
		"redis://127.0.0.1:1?addr=127.0.0.1:65536":    "65536: invalid port",
		"redis-sentinel://127.0.0.1:1,h:70000/master": "70000: invalid port",
		"redis://127.0.0.1/first":                     "database number",
		"postgres://u:secret@127.0.0.1:99999/db":      "invalid port",
		"mongodb://u:secret@127.0.0.1:99999/db":       "port must be in the range",
		"mongodb://127.0.0.1/a.b":                     "name of a database",
		"redis://127.0.0.1:1?prefix=":                 "want prefix=NAME, once",
		"redis://:secret@127.0.0.1:1?prefix=a b":      "without blanks",
		"redis://127.0.0.1:1?keyprefix=a":             "want prefix=NAME, once",
		"file:/nowhere?prefix=a":                      "only in a URL of Redis; give each tenant a folder",
		"sqlite:/nowhere?prefix=a":                    "only in a URL of Redis; give each tenant a file or",
		"postgres://u:secret@127.0.0.1:1/d?prefix=a":  "with search_path=SCHEMA",
		"mongodb://127.0.0.1:1/d?w=1&prefix=a":        "give each tenant a file or database",
	} {
		got := oid(t, "", "lock", "job", "--locks", url, "--wait", "20s", "--", "true")
		if got.code != exitUsage || !strings.Contains(got.err, want) || strings.Contains(got.err, "trying again") || strings.Contains(got.err, "secret") {
			t.Errorf("--locks %s: %+v, want exit code %d, at once, and that it says %q", url, got, exitUsage, want)
		}
	}
}

// Slots and their queue belong to the lock of which they are.
func TestWithoutSlot(t *testing.T) {
	for name, want := range map[string]string{"job#0": "job", "job#12": "job", "job#queue": "job", "a#b#3": "a#b", "job": "job", "job#": "job#", "job#x": "job#x", "job#+1": "job#+1", "#1": "#1", "7": "7", "queue": "queue"} {
		if got := lock.WithoutSlot(name); got != want {
			t.Errorf("lock.WithoutSlot(%q) = %q, want %q", name, got, want)
		}
	}
}
