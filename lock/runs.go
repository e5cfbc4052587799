package lock

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Tick is one due run of a job that several hosts share, see [Once]. It has either a time or
// a key.
type Tick struct {
	// Time is when the tick is due, in UTC.
	Time time.Time
	// Key is the key of a [KeySchedule].
	Key string
}

// String returns the time in the form [time.RFC3339Nano], or the key.
func (t Tick) String() string {
	if t.Time.IsZero() {
		return t.Key
	}
	return t.Time.Format(time.RFC3339Nano)
}

func (t Tick) is(other Tick) bool { return t.Time.Equal(other.Time) && t.Key == other.Key }

// Outcome says what became of a tick.
type Outcome string

// The outcomes of a tick.
const (
	OutcomeRunning Outcome = "running" // a holder is running it
	OutcomeDone    Outcome = "done"    // the function returned nil, or the command exited with 0
	OutcomeFailed  Outcome = "failed"  // the function returned an error, or the command failed
	OutcomeDied    Outcome = "died"    // the holder died, or lost the lock, before it recorded an outcome
	OutcomeMissed  Outcome = "missed"  // no host began it in time
	OutcomeDue     Outcome = "due"     // no host has begun it yet, and a call would still be for it
)

// Run describes the last attempt to run a tick, or says that the tick was missed or is due.
type Run struct {
	Tick    Tick
	Outcome Outcome
	// Attempt is the number of this attempt, from 1. If the tick was missed or is due, this
	// field and all below are zero.
	Attempt int
	// Owner and Fence are those of the lease under which the attempt ran.
	Owner Owner
	Fence uint64
	// Host is the name of the host that made the attempt. It is empty if unknown.
	Host string
	// Start and End are when the attempt began and ended, by the clock of the backend. End is
	// zero while the attempt runs, and if its holder died.
	Start, End time.Time
	// ExitCode is 0 if the function returned nil, and otherwise the result of the method
	// ExitCode of its error, such as an [os/exec.ExitError]. It is nil if the error has none.
	ExitCode *int
	// First reports that no earlier run was recorded under this name: this is the first run,
	// or the backend has lost the record.
	First bool
	// Here reports whether this call of [Once] ran the function itself. If it is false, the
	// Run describes a run of another call.
	Here bool
}

// maxRuns is how many ticks, and how many keys, a record keeps. A tick is too late once
// maxRuns-1 further ticks are due.
const maxRuns = 16

// record is what [Once] keeps with a lock, as the text of its note.
type record struct {
	Version  int    `json:"version"`
	Schedule string `json:"schedule"`
	Runs     []run  `json:"runs"` // keys in the order of their first attempts, then ticks by time
	// Forgotten is the last tick that was dropped from Runs. Nobody can say whether it or an
	// earlier tick ran.
	Forgotten time.Time `json:"forgotten,omitzero"`
}

// run is a [Run] as a record keeps it.
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

// recordVersion is the version of the record format.
const recordVersion = 1

// parseRecord parses a note. An empty note is an empty record.
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

// put records an attempt. It replaces an earlier attempt of the same tick.
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

// forgot reports whether the record can no longer say whether t ran.
func (r *record) forgot(t Tick) bool { return t.Key == "" && !t.Time.After(r.Forgotten) }

// missed returns the last ticks of s before tick that nobody has begun, oldest first and at
// most limit. It returns none from before the first tick of the record.
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

// late reports whether t became due while an earlier tick ran.
func (r *record) late(t Tick) bool {
	return slices.ContainsFunc(r.Runs, func(x run) bool {
		return x.Time.Before(t.Time) && !x.Start.After(t.Time) && !x.End.Before(t.Time)
	})
}

// public returns x as a [Run].
func (x run) public() Run {
	return Run{
		Tick: x.tick(), Outcome: x.Outcome, Attempt: x.Attempt, Owner: x.Owner,
		Fence: x.Fence, Host: x.Host, Start: x.Start, End: x.End, ExitCode: x.ExitCode,
	}
}

// readRecord returns the record of a lock, and the time of the backend.
func readRecord(ctx context.Context, l Locker, name string) (record, time.Time, error) {
	note, err := l.note(ctx, name)
	if err != nil {
		return record{}, time.Time{}, err
	}
	r, err := parseRecord(note.Text)
	return r, note.Now, err
}

// Runs returns the recorded runs of [Once] with this name. The runs of up to 16 keys come first,
// in the order of their first attempts. Ticks follow, oldest first: up to 16 that were begun
// and up to 16 that were missed, and the tick that is due, if nobody has begun it. Runs returns
// nil if nothing is recorded, and after an error.
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
		// The run began before the status was read, its lease did not have the lock then, and
		// it still has no outcome. A holder records the outcome while it has the lock.
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
	} else if !tick.Time.After(now) && !r.forgot(tick) && r.find(tick) == nil {
		all = append(all, Run{Tick: tick, Outcome: OutcomeDue})
	}
	for _, t := range r.missed(s, tick, maxRuns) {
		all = append(all, Run{Tick: t, Outcome: OutcomeMissed})
	}
	slices.SortStableFunc(all, func(a, b Run) int { return a.Tick.Time.Compare(b.Tick.Time) })
	return all, nil
}
