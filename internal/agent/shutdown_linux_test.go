package agent_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/objectid"
)

// An agent that is ended together with its programs records the ends of those that have just
// ended, at their times. The ends of the others are not known to the next agent.
func TestShutdownTogether(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	type run struct {
		id    objectid.ID
		ended time.Time
	}
	runs := make([]run, 12)
	var programs []*program
	for i := range runs {
		programs = append(programs, client(t, h.socket))
		runs[i].id, _ = programs[i].join("")
	}
	began := time.Now()
	for i, p := range programs {
		if i == 6 {
			began = time.Now()
			_ = h.agent.cmd.Process.Signal(syscall.SIGTERM)
		}
		if i >= 6 {
			time.Sleep(50 * time.Millisecond)
		}
		p.signal(syscall.SIGTERM)
		runs[i].ended = time.Now()
	}
	_ = h.agent.cmd.Wait()
	took, first := time.Since(began), 0
	for i := range 6 {
		if h.one(runs[i].id).End != nil {
			first++
		}
	}
	if after := runs[11].ended.Sub(began); h.one(runs[11].id).End == nil && after < 350*time.Millisecond && took < 2*time.Second {
		t.Error("a program that ended just after the agent was told to end has no end")
	}
	t.Logf("the agent took %v and recorded %d of 6 ends", took, first)
	if first < 6 && took < 2*time.Second { // the machine may be busy
		t.Errorf("%d of 6 ends are recorded", first)
	}
	h.startAgent()
	client(t, h.socket).join("") // the agent has read its file
	time.Sleep(2 * interval)
	for i, r := range runs {
		if end := h.one(r.id).End; end != nil && (end.Time.Before(began.Add(-time.Second)) || end.Time.After(r.ended.Add(time.Second))) {
			t.Errorf("program %d ended at %v, recorded %v", i, r.ended, end.Time)
		}
	}
}
