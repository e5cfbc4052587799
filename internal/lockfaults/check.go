package lockfaults

import (
	"testing"
	"time"
)

// Check fails the test if a report on this project's lock shows what must not happen
// under the fault.
func (f Fault) Check(t testing.TB, r Report) {
	t.Helper()
	complaints := [][]string{r.Forever, r.Left, r.Leaks, r.Crashes}
	if !f.ClockBack {
		complaints = append(complaints, r.FencesBack)
	}
	if f.Ordinary {
		complaints = append(complaints, r.Lost)
	}
	for _, complaint := range complaints {
		for _, text := range complaint {
			t.Error(text)
		}
	}
	if (f.OneHolder || f.Ordinary) && r.TwoBelievers > 0 {
		t.Errorf("two believed to have the lock for %v", r.TwoBelievers)
	}
	// The lock must be free again after the TTL, or when there is a server again.
	// What the machine was late by comes on top, within limits: on a quiet one
	// it is a few milliseconds.
	stall := min(r.Stall, TTL)
	limit := 3*TTL + max(time.Second, r.Outage) + stall
	if r.Idle > limit {
		t.Errorf("nobody had the lock for %v, want at most %v", r.Idle, limit)
	}
	if r.LateStart > limit {
		t.Errorf("a client that started during the fault had its lock after %v, want at most %v; it met %q", r.LateStart, limit, r.LateErrors)
	}
	if limit := 2*time.Second + stall; r.Late > limit {
		t.Errorf("an Acquire returned %v after the end of its ctx", r.Late)
	}
	if !r.Fenced || r.Grants < 1 {
		t.Errorf("%d grants, fenced: %v", r.Grants, r.Fenced)
	}
}
