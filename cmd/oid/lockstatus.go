package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/lock"
)

// showLocks prints the status of the locks that are named, or of all that are
// held.
func showLocks(ctx context.Context, std streams, engine lockEngine, url string, names []string, asJSON jsonFlag, z *zone) error {
	l, err := engine.open(ctx, std, url, lock.DefaultTTL)
	if err != nil {
		return err
	}
	defer l.Close()
	show := func(s lock.Status, runs []lock.Run) error {
		lines := []string{lockLine(s, time.Now(), z)}
		for _, r := range runs {
			lines = append(lines, "  "+runLine(r, time.Now(), z))
		}
		return asJSON.emit(std.out, towire.LockRuns(s, runs), textf("%s\n", strings.Join(lines, "\n")))
	}
	for _, name := range names {
		s, err := l.Status(ctx, name)
		if err != nil {
			return err
		}
		runs, err := lock.Runs(ctx, l, name)
		if err == nil {
			err = show(s, runs)
		}
		if err != nil {
			return err
		}
	}
	if len(names) > 0 {
		return nil
	}
	all, err := l.List(ctx)
	for _, s := range all {
		err = errors.Join(err, show(s, nil))
	}
	return err
}

// lockLine describes a lock to people.
func lockLine(s lock.Status, now time.Time, z *zone) string {
	if !s.Held {
		return s.Name + ": free"
	}
	if s.Owner.IsZero() {
		return s.Name + ": held by a program that does not say who it is, such as flock(1)"
	}
	line := fmt.Sprintf("%s: held by %v since %s (%v), fence %d", s.Name, s.Owner, z.text(s.Since.Truncate(time.Second)), max(0, now.Sub(s.Since)).Round(time.Second), s.Fence)
	if s.TTL > 0 {
		line += fmt.Sprintf(", ttl %v", s.TTL.Round(100*time.Millisecond))
	}
	if s.Waiters > 0 {
		line += fmt.Sprintf(", %d waiting", s.Waiters)
	}
	if s.Holder.Host != "" {
		line += fmt.Sprintf("\n  pid %d on %s", s.Owner.Process.PID(), printable(s.Holder.Host))
		switch s.Holder.State {
		case lock.Alive:
			if oid, err := s.Holder.Process.Alive(); err == nil && !oid {
				line += ", ended, but processes of its command still run"
			} else {
				line += ", alive"
			}
		case lock.Ended:
			line += ", ended"
		}
	}
	if s.Holder.Command != "" {
		line += ": " + printable(s.Holder.Command)
	}
	return line
}
