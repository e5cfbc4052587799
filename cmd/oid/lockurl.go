package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/internal/causes"
	"github.com/oidkit/oid/internal/failure"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/redislock"
	"github.com/oidkit/oid/lock/storelock"
	"github.com/oidkit/oid/store"
)

// lockEngine is a kind of backend that keeps locks.
type lockEngine struct {
	schemes []string // the schemes of its URLs
	want    string   // the forms of its URLs, for errors
	help    string   // its lines in the table of "oid help urls"
	tenants string   // how tenants share it without prefix=NAME in the URL, or "" if they use that
	open    func(ctx context.Context, std streams, url string, ttl time.Duration) (lock.Locker, error)
}

// lockEngines are all engines; the first is the default.
var lockEngines = []lockEngine{
	{[]string{"file"}, "file:FOLDER", `
  file:FOLDER          in files, for the programs of this machine. Root makes a
                       FOLDER for all users with "install -d -m 1777 FOLDER",
                       and must use it first. file: alone, the default, means
                       ` + machineLocks + ` on Linux, for all users, if root has
                       used it, and otherwise oid/locks in your data folder`, "give each tenant a folder", openFileLocks},
	{[]string{"redis", "rediss", "redis-sentinel", "rediss-sentinel", "valkey", "valkeys", "unix"}, "redis://..., rediss://..., redis-sentinel://... or unix:///SOCKET", `
  redis://HOST:PORT    in Redis, for many machines; rediss:// uses TLS, and
                       unix:///SOCKET a socket. A Redis Cluster is
                       redis://HOST1:PORT?addr=HOST2:PORT
  redis-sentinel://HOST1:PORT,HOST2:PORT/MASTER
                       in the primary called MASTER, which the Sentinels know;
                       rediss-sentinel:// uses TLS.
                       With ?prefix=NAME all keys and channels begin with NAME:,
                       so that tenants can share one Redis. valkey:// and
                       valkeys:// mean redis:// and rediss://`, "", openRedisLocks},
	{storeSchemes, storeURLs, `
  ` + storeURLs + `
                       in a store; the URL is that of --store in other commands`, "give each tenant a file or database, or in PostgreSQL a schema with search_path=SCHEMA", openStoreLocks},
}

// locksHelp is the table of "oid help urls" about --locks.
var locksHelp = func() string {
	var help strings.Builder
	help.WriteString("--locks or the variable OID_LOCKS chooses where locks are kept:")
	for _, e := range lockEngines {
		help.WriteString(e.help)
	}
	return help.String()
}()

// lockEngineOf returns the engine of a URL. Errors do not contain the URL, because it may
// contain a password.
func lockEngineOf(url string) (lockEngine, error) {
	scheme, _, found := strings.Cut(url, ":")
	var want []string
	for _, e := range lockEngines {
		if found && slices.Contains(e.schemes, scheme) {
			if _, query, _ := strings.Cut(url, "?"); e.tenants != "" && strings.Contains(query, "prefix=") {
				return e, usagef("--locks or OID_LOCKS: prefix= works only in a URL of Redis; %s", e.tenants)
			}
			return e, nil
		}
		want = append(want, e.want)
	}
	return lockEngine{}, usagef("--locks or OID_LOCKS: a %s; want %s", unknownURL(url), strings.Join(want, ", or "))
}

func openRedisLocks(ctx context.Context, std streams, url string, ttl time.Duration) (lock.Locker, error) {
	l, err := redislock.Open(ctx, url, &redislock.Options{
		TTL:    ttl,
		Warn:   func(err error) { std.warn("warning: %v", err) },
		Events: warnOfSilence(std, url),
	})
	if errors.Is(err, lock.ErrInvalid) { // --ttl was checked before
		err = usageError{err}
	}
	return l, err
}

// unanswered returns the error of a backend that cannot be reached, does not answer, refuses
// requests for a while, or answers something else.
func unanswered(url string, err error) error {
	if all := (interface{ Unwrap() []error })(nil); errors.As(err, &all) {
		err = all.Unwrap()[len(all.Unwrap())-1] // the first is the end of ctx
	}
	if i := strings.LastIndexByte(url, '@'); i >= 0 { // leave out the password
		scheme, _, _ := strings.Cut(url, "://")
		url = scheme + "://" + url[i+1:]
	}
	url, _, _ = strings.Cut(url, "?")
	switch row := failure.Of(err); {
	case row.Why != "":
		return fmt.Errorf("%s refuses requests for now, because %s (%s)", url, row.Why, causes.Of(err))
	case row.Kind == failure.Unknown: // it did answer, for example with the value of another program
		return fmt.Errorf("%s: %w", url, err)
	}
	return fmt.Errorf("%s does not answer (%s); check that it runs and that --locks is right", url, causes.Of(err))
}

// silencePause is the pause between two warnings of [warnOfSilence]. A command
// that waits for many slots sends many requests at the same time.
const silencePause = time.Minute

// warnOfSilence returns a function for events that warns when the backend does not answer or
// refuses requests while oid waits for a lock.
func warnOfSilence(std streams, url string) func(lock.Event) {
	var mu sync.Mutex
	var last time.Time
	return func(e lock.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Kind == lock.EventUnanswered && (last.IsZero() || time.Since(last) > silencePause) {
			last = time.Now()
			std.warn("warning: waiting for the lock %q: %v; trying again", e.Name, unanswered(url, e.Err))
		}
	}
}

// storeLocks are locks in a store. Close closes the store too.
type storeLocks struct {
	*storelock.Locker
	store store.Store
}

func (l storeLocks) Close() error { return errors.Join(l.Locker.Close(), l.store.Close()) }

func openStoreLocks(ctx context.Context, std streams, url string, ttl time.Duration) (lock.Locker, error) {
	where := storeFlag{url: url}
	s, err := where.openToWrite(ctx)
	if err != nil {
		return nil, err
	}
	l, err := storelock.New(s, &storelock.Options{TTL: ttl, Events: warnOfSilence(std, url)})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return storeLocks{l, s}, nil
}

// locksFlag is the flag --locks.
type locksFlag struct{ url string }

func (f *locksFlag) addFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "locks", "", "`URL` of the locks, see \"oid help urls\" (default $OID_LOCKS, or files)")
}

// engine returns the URL of the locks, and its engine.
func (f *locksFlag) engine() (lockEngine, string, error) {
	url := cmp.Or(f.url, os.Getenv("OID_LOCKS"), "file:")
	e, err := lockEngineOf(url)
	return e, url, err
}

// opener returns a function that opens the locks to look at them. It is nil if no URL is
// given and this system has no default folder.
func (f *locksFlag) opener(std streams) (func(context.Context) (lock.Locker, error), error) {
	e, url, err := f.engine()
	if err != nil {
		return nil, err
	}
	if _, err := lockFolder(url); err != nil && url == "file:" {
		return nil, nil
	}
	return func(ctx context.Context) (lock.Locker, error) { return e.open(ctx, std, url, lock.DefaultTTL) }, nil
}

// checkTTL checks --ttl and --grace, and sets the default of --grace.
func checkTTL(cmd *cobra.Command, ttl time.Duration, grace *time.Duration) error {
	given := cmd.Flags().Changed("grace")
	if err := lock.CheckTTL(ttl); err != nil {
		return usageError{fmt.Errorf("--ttl: %w", err)}
	}
	switch {
	case !given:
		*grace = ttl / 6
	case *grace < 0 || *grace > ttl/3:
		// A lease that is renewed in time has more than half of its TTL left.
		return usagef("--grace %v: want 0 to a third of --ttl, %v", *grace, ttl/3)
	}
	return nil
}
