package server

import "testing"

// Without an answer of the store, the overview does not say that there is no process.
func TestOverviewWithoutAnswer(t *testing.T) {
	s, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if out := s.look(); out.Processes != nil || out.refreshed.IsZero() {
		t.Errorf("overview: %+v", out)
	}
}
