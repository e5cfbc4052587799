package registry

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
)

// What is written next follows from what is stored, one kind of write after the other.
func TestNextStep(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	stored := bson.Raw{1}
	for _, test := range []struct {
		name   string
		change func(e *enrolment, p *Process)
		want   task
	}{
		{"everything is stored", func(*enrolment, *Process) {}, nothing},
		{"new", func(e *enrolment, _ *Process) { *e = enrolment{changed: true, unchecked: maxRecent} }, claimValues},
		{"claim was lost", func(e *enrolment, _ *Process) { e.claimed, e.changed = false, true }, claimValues},
		{"ended before it had a claim", func(e *enrolment, p *Process) { e.claimed, p.End = false, &End{} }, claimValues},
		{"living record is full", func(e *enrolment, p *Process) { e.pending, p.Last.Count = make([]Sample, maxRecent+1), 8 }, writeSamples},
		{"room for one more sample", func(e *enrolment, p *Process) { e.pending, p.Last.Count = make([]Sample, maxRecent), 8 }, writeLiving},
		{"samples, and its turn", func(e *enrolment, p *Process) { e.pending, p.Last.Count = make([]Sample, 2), 12 }, writeSamples},
		{"one sample, and its turn", func(e *enrolment, p *Process) { e.pending, p.Last.Count = make([]Sample, 1), 12 }, writeLiving},
		{"samples, and an hour later", func(e *enrolment, p *Process) { e.pending, p.Last.Time = make([]Sample, 2), began.Add(time.Hour) }, writeSamples},
		{"another heartbeat", func(_ *enrolment, p *Process) { p.Last.Count++ }, writeLiving},
		{"living record was deleted", func(e *enrolment, _ *Process) { e.stored, e.changed = nil, true }, writeLiving},
		{"another description", func(e *enrolment, _ *Process) { e.changed, e.left = true, make([]MemberKey, 1) }, writeRecord},
		{"another block", func(e *enrolment, p *Process) { e.left, p.End = make([]MemberKey, 1), &End{} }, deleteOld},
		{"ended", func(e *enrolment, p *Process) { p.End, e.unchecked, e.trimmed = &End{}, maxRecent, time.Time{} }, moveEnded},
		{"ended and moved", func(e *enrolment, p *Process) { p.End, e.finished, e.unchecked = &End{}, true, maxRecent }, nothing},
		{"an hour later", func(e *enrolment, p *Process) { p.Last.Time, e.unchecked = began.Add(time.Hour), maxRecent }, trimSamples},
		{"the same hour", func(_ *enrolment, p *Process) { p.Last.Time = began.Add(time.Hour - 1) }, nothing},
		{"not checked for long", func(e *enrolment, _ *Process) { e.unchecked = maxRecent }, checkClaims},
		{"checked not long ago", func(e *enrolment, _ *Process) { e.unchecked = maxRecent - 1 }, nothing},
	} {
		last := Heartbeat{Count: 7, Time: began}
		p := Process{Block: "00000000", Member: objectid.ID{11: 6}, Last: last} // whose hours begin on the hour
		e := enrolment{claimed: true, registered: true, stored: stored, agreed: last, trimmed: began}
		test.change(&e, &p)
		if got := e.next(&p); got != test.want {
			t.Errorf("%s: task %d, want %d", test.name, got, test.want)
		}
	}
}
