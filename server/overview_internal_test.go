package server

import "testing"

// If the store does not answer, the overview has no number of processes, not 0.
func TestOverviewWithoutAnswer(t *testing.T) {
	s, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if out := s.look(); out.Processes != nil {
		t.Errorf("overview: %+v", out)
	}
}
