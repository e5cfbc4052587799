package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/lock"
)

// lockMetrics are the names and descriptions of the values of [lockDetails.metrics].
var lockMetrics = [][2]string{
	{"oid_lock_holders", "Holders of the lock: 0 or 1, or the number of its slots that are held."},
	{"oid_job_runs_remembered", "Runs that oid remembers; 0 if no command has run under this name with --once."},
	{"oid_job_last_start_timestamp_seconds", "When the last run began."},
	{"oid_job_last_success_timestamp_seconds", "When the last successful run ended; 0 if oid remembers none."},
	{"oid_job_last_exit_code", "Exit code of the last run that has ended; absent if its host died."},
	{"oid_job_last_duration_seconds", "Duration of the last run that has ended; absent if its host died."},
	{"oid_job_ticks_missed", "Ticks that no host began in time, among the last that oid remembers."},
	{"oid_job_last_missed_timestamp_seconds", "The last tick that no host began in time; 0 if oid remembers none."},
	{"oid_job_due_timestamp_seconds", "The tick that is due and that no host has begun yet; 0 if there is none."},
}

// metrics returns the values of lockMetrics. Unknown values are NaN or, at the end, left out.
func (d lockDetails) metrics() []float64 {
	holders, runs, missed := len(d.slots), 0, 0
	if d.Held {
		holders++
	}
	var start, success, lastMissed, due time.Time
	code, duration := math.NaN(), math.NaN()
	slices.SortStableFunc(d.runs, func(a, b lock.Run) int { return a.Start.Compare(b.Start) })
	for _, r := range d.runs {
		switch r.Outcome {
		case lock.OutcomeMissed:
			missed, lastMissed = missed+1, r.Tick.Time
		case lock.OutcomeDue:
			due = r.Tick.Time
		case lock.OutcomeRunning:
			runs, start = runs+1, r.Start
		default:
			runs, start, code, duration = runs+1, r.Start, math.NaN(), math.NaN()
			if r.ExitCode != nil {
				code = float64(*r.ExitCode)
			}
			if !r.End.IsZero() {
				duration = r.End.Sub(r.Start).Seconds()
			}
			if r.Outcome == lock.OutcomeDone {
				success = r.End
			}
		}
	}
	values := []float64{float64(holders), float64(runs), unixSeconds(start), unixSeconds(success), code, duration, float64(missed), unixSeconds(lastMissed), unixSeconds(due)}
	if runs == 0 {
		return values[:2]
	}
	return values
}

// unixSeconds returns the seconds from 1970 to t, or 0 for the zero Time.
func unixSeconds(t time.Time) float64 { return max(0, float64(t.UnixMicro())/1e6) }

// writeLockMetrics writes the metrics of locks in the text format of Prometheus.
func writeLockMetrics(w io.Writer, all []lockDetails) error {
	values := make(map[string][]float64) // by the name of the lock, because no series may be there twice
	for _, d := range all {
		values[d.Name] = d.metrics()
	}
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	var b strings.Builder
	for i, m := range lockMetrics {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s gauge\n", m[0], m[1], m[0])
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if of := values[name]; i < len(of) && !math.IsNaN(of[i]) {
				fmt.Fprintf(&b, "%s{lock=\"%s\"} %s\n", m[0], escape.Replace(name), strconv.FormatFloat(of[i], 'f', -1, 64))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
