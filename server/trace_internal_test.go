package server

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// Anyone can ask for ids that nobody has created: as many as there are, they neither take
// more memory nor the place of ids that are known. A trace that was asked for before a
// change and found after it is not kept.
func TestTraceCacheBounds(t *testing.T) {
	var c traceCache
	now := time.Now()
	known, unknown := wire.Trace{Verdict: "known"}, wire.Trace{Verdict: "unknown"}
	id := func(i int) (id objectid.ID) {
		binary.BigEndian.PutUint32(id[4:], uint32(i))
		return id
	}
	c.put(id(0), known, now)
	for i := 1; i <= 3*maxTraces; i++ {
		c.put(id(i), unknown, now)
		if n := len(c.known.kept) + len(c.others.kept); n > 1+maxTraces {
			t.Fatalf("%d traces are kept", n)
		}
	}
	if got, ok := c.get(id(0), now.Add(recentLife)); !ok || got.Verdict != "known" {
		t.Errorf("the known one: %+v, %v", got, ok)
	}
	if _, ok := c.get(id(3*maxTraces), now.Add(recentLife)); !ok {
		t.Error("the latest unknown one is not kept")
	}
	if got, ok := c.get(id(3*maxTraces), now.Add(recentLife+1)); ok {
		t.Errorf("kept for longer than %v: %+v", recentLife, got)
	}
	c.put(id(3*maxTraces), known, now) // another server has recorded it
	if got, _ := c.get(id(3*maxTraces), now); got.Verdict != "known" {
		t.Errorf("after it was recorded: %+v", got)
	}
	c.put(id(3*maxTraces), unknown, now.Add(2*recentLife))
	if got, _ := c.get(id(3*maxTraces), now.Add(2*recentLife)); got.Verdict != "unknown" {
		t.Errorf("after it was pruned: %+v", got)
	}
	asked := time.Now()
	c.forget()
	c.put(id(1), unknown, asked)
	if got, ok := c.get(id(1), asked); ok {
		t.Errorf("asked for before the change: %+v", got)
	}
}
