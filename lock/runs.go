package lock

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Tick is one due run of a job that several hosts share, see [Once].
type Tick struct {
	// Time is when the tick is due, in UTC; zero for a key.
	Time time.Time
	// Key is the key of [KeySchedule], and empty for all other schedules.
	Key string
}

// String returns the time as [time.RFC3339Nano] writes it, or the key.
func (t Tick) String() string {
	if t.Time.IsZero() {
		return t.Key
	}
	return t.Time.Format(time.RFC3339Nano)
}

func (t Tick) is(other Tick) bool { return t.Time.Equal(other.Time) && t.Key == other.Key }

// Outcome is what is known of a tick.
type Outcome string

// The outcomes of a tick.
const (
	OutcomeRunning Outcome = "running" // a holder has begun it
	OutcomeDone    Outcome = "done"    // the function returned nil, or the command ended with 0
	OutcomeFailed  Outcome = "failed"  // it ended with an error
	OutcomeDied    Outcome = "died"    // its holder ended, or lost the lock, before it could record the outcome
	OutcomeMissed  Outcome = "missed"  // nobody has begun it, and it is over
)

// Run is what is known of a tick: the last attempt to run it.
type Run struct {
	Tick    Tick
	Outcome Outcome
	// Attempt counts the starts of this tick, from 1. For a missed tick it and all that
	// follows is zero.
	Attempt int
	// Owner is the lease under which it ran, and Fence that lease's fence.
	Owner Owner
	Fence uint64
	// Host is the name of the owner's host, empty if that is not known.
	Host string
	// Start and End are by the clock of the backend. End is zero while the attempt runs and
	// after its holder died.
	Start, End time.Time
	// ExitCode is that of the function's error, such as an [os/exec.ExitError], or 0
	// without an error. It is nil if the error has none.
	ExitCode *int
	// First means that the name had no record: this is its first run, or the backend has
	// lost the record.
	First bool
	// Here reports whether the call of [Once] that returned this ran it.
	Here bool
}

// maxRuns is how many ticks and how many keys a record keeps. A tick is too late when one
// fewer are due after it.
const maxRuns = 16

// record is the note of a lock for which Once was called.
type record struct {
	Version  int    `json:"version"`
	Schedule string `json:"schedule"`
	Runs     []run  `json:"runs"` // keys in the order of their first attempts, then ticks by time
	// Forgotten is the last tick that had to make room: of earlier ones nobody can say
	// whether they ran.
	Forgotten time.Time `json:"forgotten,omitzero"`
}

// run is a [Run] in a record.
type run struct {
	Time     time.Time `json:"tick,omitzero"`
	Key      string    `json:"key,omitempty"`
	Attempt  int       `json:"attempt"`
	Outcome  Outcome   `json:"outcome"`
	Owner    Owner     `json:"owner"`
	Fence    uint64    `json:"fence"`
	Host     string    `json:"host,omitempty"`
	Start    time.Time `json:"start"`
	End      time.Time `json:"end,omitzero"`
	ExitCode *int      `json:"exit_code,omitempty"`
}

// recordVersion is the version of the form of a record.
const recordVersion = 1

// parseRecord reads a note; an empty one is an empty record.
func parseRecord(text string) (record, error) {
	r := record{Version: recordVersion}
	if text == "" {
		return r, nil
	}
	var v struct {
		Version int `json:"version"`
	}
	err := json.Unmarshal([]byte(text), &v)
	if err == nil && v.Version != recordVersion {
		err = fmt.Errorf("its version is %d, want %d; use the version of the program that wrote it", v.Version, recordVersion)
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &r)
	}
	if err != nil {
		return record{}, fmt.Errorf("read the record of runs: %w", err)
	}
	return r, nil
}

func (x run) tick() Tick { return Tick{x.Time, x.Key} }

// find returns the run of a tick, or nil.
func (r *record) find(t Tick) *run {
	i := slices.IndexFunc(r.Runs, func(x run) bool { return x.tick().is(t) })
	if i < 0 {
		return nil
	}
	return &r.Runs[i]
}

// put records an attempt in the place of an earlier one of the same tick.
func (r *record) put(x run) {
	if old := r.find(x.tick()); old != nil {
		*old = x
		return
	}
	r.Runs = append(r.Runs, x)
	slices.SortStableFunc(r.Runs, func(a, b run) int { return a.Time.Compare(b.Time) })
	keys := slices.IndexFunc(r.Runs, func(x run) bool { return x.Key == "" })
	if keys < 0 {
		keys = len(r.Runs)
	}
	if keys > maxRuns {
		r.Runs = r.Runs[1:]
	} else if len(r.Runs)-keys > maxRuns {
		if first := r.Runs[keys].Time; first.After(r.Forgotten) {
			r.Forgotten = first
		}
		r.Runs = slices.Delete(r.Runs, keys, keys+1)
	}
}

// forgot reports whether t is so old that the record cannot say whether it ran.
func (r *record) forgot(t Tick) bool { return t.Key == "" && !t.Time.After(r.Forgotten) }

// missed returns the ticks of s before a tick that nobody has begun, oldest first and at
// most limit: the last ones, but none from before the record.
func (r *record) missed(s Schedule, tick Tick, limit int) []Tick {
	first := slices.IndexFunc(r.Runs, func(x run) bool { return x.Key == "" })
	if s.next == nil || first < 0 {
		return nil
	}
	var all []Tick
	for t := tick.Time; len(all) < limit; {
		t = s.before(t.Add(-1))
		if !t.After(r.Runs[first].Time) {
			break
		}
		if x := (Tick{Time: t}); r.find(x) == nil {
			all = append(all, x)
		}
	}
	slices.Reverse(all)
	return all
}

// late reports whether t was due while an earlier tick was run.
func (r *record) late(t Tick) bool {
	return slices.ContainsFunc(r.Runs, func(x run) bool {
		return x.Time.Before(t.Time) && !x.Start.After(t.Time) && !x.End.Before(t.Time)
	})
}

// public returns x as users see it.
func (x run) public() Run {
	return Run{
		Tick: x.tick(), Outcome: x.Outcome, Attempt: x.Attempt, Owner: x.Owner,
		Fence: x.Fence, Host: x.Host, Start: x.Start, End: x.End, ExitCode: x.ExitCode,
	}
}

// readRecord returns the record of a lock and the time of the place that keeps it.
func readRecord(ctx context.Context, l Locker, name string) (record, time.Time, error) {
	note, err := l.note(ctx, name)
	if err != nil {
		return record{}, time.Time{}, err
	}
	r, err := parseRecord(note.Text)
	return r, note.Now, err
}

// Runs returns what is known of the last ticks that [Once] ran or should have run under
// a name: at most 16 that were begun and at most 16 that were missed, oldest first, after
// at most 16 keys. It returns nil for a name without a record and after an error.
func Runs(ctx context.Context, l Locker, name string) ([]Run, error) {
	before, _, err := readRecord(ctx, l, name)
	if err != nil {
		return nil, err
	}
	status, err := l.Status(ctx, name)
	if err != nil {
		return nil, err
	}
	r, now, err := readRecord(ctx, l, name)
	if err != nil || len(r.Runs) == 0 {
		return nil, err
	}
	var all []Run
	for _, x := range r.Runs {
		// It had begun before the status, did not have the lock then, and has no outcome
		// after that: a holder records the outcome while it has the lock.
		if old := before.find(x.tick()); x.Outcome == OutcomeRunning && old != nil && old.Fence == x.Fence && status.Fence != x.Fence {
			x.Outcome = OutcomeDied
		}
		all = append(all, x.public())
	}
	s, err := ParseSchedule(r.Schedule)
	if err != nil {
		return nil, fmt.Errorf("read the record of runs: %w", err)
	}
	tick, err := s.at(now)
	if err != nil { // between two ticks
		tick.Time = s.before(now)
	}
	for _, t := range r.missed(s, tick, maxRuns) {
		all = append(all, Run{Tick: t, Outcome: OutcomeMissed})
	}
	slices.SortStableFunc(all, func(a, b Run) int { return a.Tick.Time.Compare(b.Tick.Time) })
	return all, nil
}
