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
		change func(r *registration, p *Process)
		want   task
	}{
		{"everything is stored", func(*registration, *Process) {}, nothing},
		{"new", func(r *registration, _ *Process) { *r = registration{recordDue: true, sinceCheck: maxRecent} }, claimValues},
		{"claim was lost", func(r *registration, _ *Process) { r.claimed, r.recordDue = false, true }, claimValues},
		{"ended before it had a claim", func(r *registration, p *Process) { r.claimed, p.End = false, &End{} }, claimValues},
		{"living record is full", func(r *registration, p *Process) { r.unstored, p.Last.Count = make([]Sample, maxRecent+1), 8 }, writeSamples},
		{"room for one more sample", func(r *registration, p *Process) { r.unstored, p.Last.Count = make([]Sample, maxRecent), 8 }, writeLiving},
		{"samples, and its turn", func(r *registration, p *Process) { r.unstored, p.Last.Count = make([]Sample, 2), 12 }, writeSamples},
		{"one sample, and its turn", func(r *registration, p *Process) { r.unstored, p.Last.Count = make([]Sample, 1), 12 }, writeLiving},
		{"samples, and an hour later", func(r *registration, p *Process) { r.unstored, p.Last.Time = make([]Sample, 2), began.Add(time.Hour) }, writeSamples},
		{"another heartbeat", func(_ *registration, p *Process) { p.Last.Count++ }, writeLiving},
		{"living record was deleted", func(r *registration, _ *Process) { r.stored, r.recordDue = nil, true }, writeLiving},
		{"another description", func(r *registration, _ *Process) { r.recordDue, r.abandoned = true, make([]MemberKey, 1) }, writeRecord},
		{"another block", func(r *registration, p *Process) { r.abandoned, p.End = make([]MemberKey, 1), &End{} }, deleteAbandoned},
		{"ended", func(r *registration, p *Process) { p.End, r.sinceCheck, r.trimmed = &End{}, maxRecent, time.Time{} }, moveEnded},
		{"ended and moved", func(r *registration, p *Process) { p.End, r.finished, r.sinceCheck = &End{}, true, maxRecent }, nothing},
		{"an hour later", func(r *registration, p *Process) { p.Last.Time, r.sinceCheck = began.Add(time.Hour), maxRecent }, trimSamples},
		{"the same hour", func(_ *registration, p *Process) { p.Last.Time = began.Add(time.Hour - 1) }, nothing},
		{"not checked for long", func(r *registration, _ *Process) { r.sinceCheck = maxRecent }, checkClaims},
		{"checked not long ago", func(r *registration, _ *Process) { r.sinceCheck = maxRecent - 1 }, nothing},
	} {
		last := Heartbeat{Count: 7, Time: began}
		p := Process{Block: "00000000", Member: objectid.ID{11: 6}, Last: last} // whose hours begin on the hour
		r := registration{claimed: true, recordStored: true, stored: stored, storedBeat: last, trimmed: began}
		test.change(&r, &p)
		if got := r.next(&p); got != test.want {
			t.Errorf("%s: task %d, want %d", test.name, got, test.want)
		}
	}
}
