package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/oidkit/oid/lock"
)

// lockOptions say how to wait for a lock and how to hold it.
type lockOptions struct {
	limited bool          // wait only for so long:
	wait    time.Duration // 0 means not at all
	ttl     time.Duration
	acquire lock.AcquireOptions
	grace   time.Duration // from SIGTERM to SIGKILL when the lock cannot be renewed
	leave   bool          // release the lock when the command ends, whatever it leaves running
}

// commandLine returns what --status shows of a holder: flags are left out because
// --locks may hold a password.
func commandLine(name string, command []string) string {
	words := append([]string{"oid", "lock", name, "--"}, command...)
	for i, w := range words {
		if w == "" || strings.ContainsFunc(w, func(r rune) bool { return r == ' ' || r == '"' || !unicode.IsPrint(r) }) {
			words[i] = strconv.Quote(w)
		}
	}
	return strings.Join(words, " ")
}

// waitFor waits for the lock.
func (o lockOptions) waitFor(ctx context.Context, l lock.Locker, name string) (*lock.Lease, error) {
	switch {
	case !o.limited:
		return l.Acquire(ctx, name, o.acquire)
	case o.wait == 0:
		return l.TryAcquire(ctx, name, o.acquire)
	}
	ctx, cancel := context.WithTimeout(ctx, o.wait)
	defer cancel()
	return l.Acquire(ctx, name, o.acquire)
}

// lockAndRun runs a command while holding a lock, unless before has ended.
func lockAndRun(before context.Context, std streams, engine lockEngine, url, name string, o lockOptions, command []string) error {
	signals := catchSignals()
	defer signal.Stop(signals)
	// Signals are passed on to the command once it runs. Until then they end the
	// waiting, as does one that came before the channel was there, which ended before.
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	waiting := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case s := <-signals:
			stop(interrupted{s})
		case <-before.Done():
			stop(context.Cause(before))
		case <-waiting:
		}
	}()
	var lease *lock.Lease
	l, err := engine.open(ctx, std, url, o.ttl)
	if err == nil {
		defer l.Close()
		if err = refuseNested(ctx, l, name); err == nil {
			lease, err = o.waitFor(ctx, l, name)
		}
	}
	close(waiting)
	<-watched
	if before.Err() != nil {
		stop(context.Cause(before))
	}
	switch interrupted := context.Cause(ctx); {
	case err == nil && interrupted != nil:
		return errors.Join(interrupted, lease.Release())
	case err == nil:
		return hold(std, lease, o, signals, command)
	case interrupted != nil:
		return interrupted
	case errors.Is(err, lock.ErrHeld), errors.Is(err, context.DeadlineExceeded):
		if held := (*lock.HeldError)(nil); o.wait > 0 && errors.As(err, &held) {
			err = fmt.Errorf("not free within %v (--wait): %w", o.wait, held)
		}
		return exitError{exitNotLocked, err}
	default:
		return exitError{exitLockFailed, err}
	}
}

// refuseNested returns an error if oid itself runs under the lock that it is to
// wait for.
func refuseNested(ctx context.Context, l lock.Locker, name string) error {
	outer := outerOwners()
	if len(outer) == 0 {
		return nil
	}
	s, err := l.Status(ctx, name)
	if err == nil && s.Held && slices.Contains(outer, s.Owner.String()) {
		return fmt.Errorf("this command already runs under the lock %q, held by oid with pid %d: waiting for it would never end; use another name, or run the command without oid lock", name, s.Owner.Process.PID())
	}
	return err
}

// hold runs a command under a lease and releases that.
func hold(std streams, lease *lock.Lease, o lockOptions, signals chan os.Signal, command []string) error {
	err := runUnder(std, lease, o, signals, command)
	switch lost := lease.Release(); {
	case lost == nil:
	case errors.Is(lost, lock.ErrLost), errors.Is(lost, lock.ErrExpired):
		return exitError{exitLockLost, fmt.Errorf("the lock was lost while the command ran: %w", lost)}
	default:
		fmt.Fprintf(std.err, "oid: warning: %v\n", lost)
	}
	return err
}
