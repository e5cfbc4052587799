package server

import (
	"testing"
	"time"
)

// What is kept has a bound and an age, and nothing that was asked for before a change of the
// registry is kept after it.
func TestRecentBounds(t *testing.T) {
	var c recent[int, string]
	now := time.Now()
	for i := range 30 {
		if c.put(i, "old", now, 10); len(c.kept) > 10 {
			t.Fatalf("%d answers are kept", len(c.kept))
		}
	}
	if got, ok := c.get(29, now.Add(recentLife)); !ok || got != "old" {
		t.Errorf("the latest: %q, %v", got, ok)
	}
	if got, ok := c.get(29, now.Add(recentLife+1)); ok {
		t.Errorf("kept for longer than %v: %q", recentLife, got)
	}
	c.put(29, "new", now.Add(2*recentLife), 10)
	if got, _ := c.get(29, now.Add(2*recentLife)); got != "new" {
		t.Errorf("after it was asked for again: %q", got)
	}
	asked := time.Now()
	c.forget()
	c.put(1, "old", asked, 10)
	if got, ok := c.get(1, asked); ok {
		t.Errorf("asked for before the change: %q", got)
	}
}
