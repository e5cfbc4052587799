package lockfaults

import (
	"slices"
	"testing"
	"time"
)

// Check fails the test if the report about this project's lock shows something that must not
// happen under the fault.
func (f Fault) Check(t testing.TB, r Report) {
	t.Helper()
	complaints := slices.Concat(r.Forever, r.Left, r.Leaks, r.Crashes)
	if !f.ClockBack {
		complaints = append(complaints, r.FencesBack...)
	}
	if f.Ordinary {
		complaints = append(complaints, r.Lost...)
	}
	for _, text := range complaints {
		t.Error(text)
	}
	if (f.OneHolder || f.Ordinary) && r.TwoBelievers > 0 {
		t.Errorf("two workers believed to hold the lock for %v", r.TwoBelievers)
	}
	// The lock must be free again after the TTL, or when the server is back. On a busy machine
	// everything is late by up to Stall, so that is added, up to a TTL.
	stall := min(r.Stall, TTL)
	limit := 3*TTL + max(time.Second, r.Outage) + stall
	if r.Idle > limit {
		t.Errorf("nobody held the lock for %v, want at most %v", r.Idle, limit)
	}
	if r.LateStart > limit {
		t.Errorf("a client that started during the fault got its lock after %v, want at most %v; its errors: %q", r.LateStart, limit, r.LateErrors)
	}
	if limit := 2*time.Second + stall; r.Late > limit {
		t.Errorf("an Acquire returned %v after its ctx had ended", r.Late)
	}
	if !r.Fenced || r.Grants < 1 {
		t.Errorf("%d grants, fenced: %v", r.Grants, r.Fenced)
	}
}
