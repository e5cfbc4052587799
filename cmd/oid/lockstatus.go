package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/lock"
)

// show prints the status of the named locks, or of all held locks if there are no names.
func (c *lockCommand) show(ctx context.Context, engine lockEngine, url string, names []string) error {
	missing, err := missingPath(url)
	if err != nil {
		return err
	}
	if missing != "" {
		c.std.warn("warning: %s does not exist: no lock was ever held there", missing)
	}
	l, err := engine.open(ctx, c.std, url, lock.DefaultTTL)
	if err != nil {
		return err
	}
	defer l.Close()
	var named []lockDetails
	for _, name := range names {
		d, err := lockDetailsOf(ctx, l, name)
		if d.of = c.options.slots; err == nil && c.format == formatText {
			err = d.show(c.std, c.asJSON, &c.zone)
		}
		if err == nil && c.breaks {
			err = c.breakLock(ctx, l, d)
		}
		if err != nil {
			return err
		}
		named = append(named, d)
	}
	switch {
	case c.format == formatPrometheus:
		return writeLockMetrics(c.std.out, named)
	case len(names) > 0:
		return nil
	}
	all, err := l.List(ctx)
	for _, s := range all {
		err = errors.Join(err, lockDetails{Status: s}.show(c.std, c.asJSON, &c.zone))
	}
	return err
}

// lockDetails are everything that --status shows of a lock.
type lockDetails struct {
	lock.Status
	slots   []lock.Status // the held ones
	of      int           // --slots, or 0
	waiters int           // how many wait for a slot
	more    bool          // there may be more waiters
	runs    []lock.Run
}

func lockDetailsOf(ctx context.Context, l lock.Locker, name string) (d lockDetails, err error) {
	if d.Status, err = l.Status(ctx, name); err != nil {
		return d, err
	}
	if d.slots, err = lock.HeldSlots(ctx, l, name); err == nil && len(d.slots) > 0 {
		var queue lock.Status
		queue, err = l.Status(ctx, name+"#queue")
		d.more = queue.Held && queue.TTL == 0 // locks in files do not count waiters
		if d.waiters = queue.Waiters; queue.Held {
			d.waiters++ // the first waiter holds the queue
		}
	}
	for i := range d.slots {
		d.slots[i].Waiters = 0 // they wait for any slot
	}
	if err == nil {
		d.runs, err = lock.Runs(ctx, l, name)
	}
	return d, err
}

// show prints the details.
func (d lockDetails) show(std streams, asJSON jsonFlag, z *zone) error {
	now := time.Now()
	var lines []string
	if d.Held || len(d.slots) == 0 && d.of == 0 {
		lines = append(lines, lockLine(d.Status, now, z))
	}
	out := towire.LockStatus(d.Status, d.slots, d.runs)
	if len(d.slots) > 0 || d.of > 0 {
		lines = append(lines, d.slotsLine())
	}
	if len(d.slots) > 0 && d.slots[0].TTL != 0 && !d.Held {
		out.Waiters = &d.waiters
	}
	for _, s := range d.slots {
		lines = append(lines, "  "+strings.ReplaceAll(lockLine(s, now, z), "\n", "\n  "))
	}
	for _, r := range d.runs {
		lines = append(lines, "  "+runLine(r, now, z))
	}
	return asJSON.emit(std.out, out, textf("%s\n", strings.Join(lines, "\n")))
}

// slotsLine says how many slots are held, and how many wait.
func (d lockDetails) slotsLine() string {
	line := d.Name + ": " + phrase.Count(int64(len(d.slots)), "slot is", "slots are") + " held"
	if len(d.slots) <= d.of {
		line = fmt.Sprintf("%s: %d of %s held", d.Name, len(d.slots), phrase.Count(int64(d.of), "slot is", "slots are"))
	}
	switch {
	case d.more:
		line += fmt.Sprintf(", at least %d waiting", d.waiters)
	case d.waiters > 0:
		line += fmt.Sprintf(", %d waiting", d.waiters)
	}
	return line
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
	if s.TTL < 0 {
		line += ", never expires"
	} else if s.TTL > 0 {
		line += fmt.Sprintf(", ttl %v", s.TTL.Round(100*time.Millisecond))
	}
	if s.Waiters > 0 {
		line += fmt.Sprintf(", %d waiting", s.Waiters)
	}
	if s.Holder.Host != "" {
		line += fmt.Sprintf("\n  pid %d on %s", s.Owner.Process.PID(), phrase.Shown(s.Holder.Host))
		oid, err := s.Holder.Process.Alive()
		switch {
		case s.Holder.State == lock.StateUnknown:
		case s.Holder.State == lock.StateEnded && s.TTL != 0:
			line += ", ended"
		case s.Holder.State == lock.StateEnded, err == nil && !oid: // somebody still locks the file
			line += ", ended, but processes of its command still run"
		default:
			line += ", alive"
		}
	}
	if s.Holder.Command != "" {
		line += ": " + phrase.Shown(s.Holder.Command)
	}
	return line
}
