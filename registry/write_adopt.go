package registry

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/internal/classic"
	"github.com/oidkit/oid/objectid"
)

// Check finds out whether p, a result of [Describe], can be adopted by the evidence ids. It
// records nothing. It returns one [Adopted] for each different process value of the ids. If p
// cannot have created one of the ids, or if there are none, the error wraps [ErrEvidence].
func (p Process) Check(evidence []objectid.ID, layout objectid.Layout) ([]Adopted, error) {
	err := p.adopt(evidence, layout, p.started(), time.Now())
	return p.Adopted, err
}

// maxUnseen is how old evidence ids may be when a process is first seen whose start is not known.
// Without a bound, a program that ends at once could claim the ids of others from any time.
const maxUnseen = time.Minute

// adopt adds the process values of evidence ids to p. started and now are by the clock of
// p; if p.StartUnknown is set, p may have started up to maxUnseen before it was first seen. Of
// two evidence ids with one value, the first counts. The error wraps [ErrEvidence]; p is then
// unchanged.
func (p *Process) adopt(evidence []objectid.ID, layout objectid.Layout, started, now time.Time) error {
	if len(evidence) == 0 {
		return fmt.Errorf("%w: no evidence id was given", ErrEvidence)
	}
	var added []Adopted
	for _, id := range evidence {
		if p.StartUnknown && id.Time().After(p.GPID.Start().Add(-maxUnseen)) {
			started = minTime(started, id.Time()) // it had started when it created the id
		}
	}
	for _, id := range evidence {
		shown, err := p.examine(id, layout, started, now)
		if err != nil {
			return err
		}
		a := Adopted{Value: valueOf(id), EvidenceID: id, Evidence: shown, From: started.UTC().Truncate(time.Millisecond)}
		if layout == objectid.Java {
			a.Value = blockOf(id)
		}
		added = append(added, a)
	}
	p.addAdopted(added)
	return nil
}

// identify makes p a process that creates no ids with its block, with its first adopted
// value as its process value.
func (p *Process) identify() {
	first := p.Adopted[0]
	p.EvidenceID, p.Value, p.From = first.EvidenceID, first.Value, first.From
}

// examine returns how strongly an evidence id points to p.
func (p *Process) examine(id objectid.ID, layout objectid.Layout, started, now time.Time) (Evidence, error) {
	const tolerance = time.Minute // between the clocks of the id and of the caller
	created := id.Time()
	early, late := p.slack()
	switch {
	case id.IsZero():
		return "", fmt.Errorf("%w: the id is zero", ErrEvidence)
	case id == objectid.MinAt(created):
		return "", fmt.Errorf("%w: %v is a bound of a time range, not a generated id", ErrEvidence, id)
	case created.After(now.Add(max(tolerance, late))):
		return "", fmt.Errorf("%w: %v is from the future, created at %s", ErrEvidence, id, created.Format(time.RFC3339))
	case created.Before(started.Add(-early).Truncate(time.Second)):
		return "", fmt.Errorf("%w: %v was created at %s, before the process %s at %s", ErrEvidence,
			id, created.Format(time.RFC3339), map[bool]string{false: "started", true: "was first seen"}[p.StartUnknown], started.Format(time.RFC3339))
	}
	machine, pid := classic.Split(id)
	fits := slices.ContainsFunc(p.pids(), func(pid int) bool { return classic.HasPID(id, pid) })
	switch onHost := p.Host != "" && classic.Machine(p.Host) == machine; {
	case layout == objectid.Java:
		return ByTime, nil
	case onHost && !fits:
		return "", fmt.Errorf("%w: %v names host %s and pid %d, but the process has pid %d", ErrEvidence, id, p.Host, pid, p.GPID.PID())
	case onHost:
		return ByHostAndPID, nil
	case layout == objectid.Classic && !fits:
		return "", fmt.Errorf("%w: %v names pid %d, but the process has pid %d", ErrEvidence, id, pid, p.GPID.PID())
	case layout == objectid.Classic: // some drivers derive the machine bytes from the network interfaces
		return ByPID, nil
	}
	return ByTime, nil
}

// pids returns the pids of p: a process of this host has one in each PID namespace from
// that of this program down to its own.
func (p *Process) pids() []int {
	all := []int{p.GPID.PID()}
	if alive, err := p.Kernel.Alive(); err != nil || !alive {
		return all // of another host, perhaps
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Kernel.PID)) // if it is hidden, one pid is known
	for line := range bytes.Lines(status) {
		list, ok := strings.CutPrefix(string(line), "NSpid:")
		for field := range strings.FieldsSeq(list) {
			if pid, err := strconv.Atoi(field); ok && err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}

// AddEvidence records further process values of a member by evidence ids, such as ids of
// another client of the process. layout is the layout of these ids. Another program may
// have registered the member.
//
// If the error is a [*CollisionError], the values are recorded. The error wraps
// [store.ErrNotFound] if the member is not recorded, [ErrEnded] if its end is recorded or if it
// is not remote and proven to be dead, and [ErrEvidence] if the process cannot have created the ids.
func (r *Registry) AddEvidence(ctx context.Context, k MemberKey, evidence []objectid.ID, layout objectid.Layout) (Process, error) {
	m, err := r.member(ctx, k)
	if err != nil {
		return Process{}, err
	}
	s, err := r.status(ctx, &m.record.Process)
	if err != nil {
		return Process{}, err
	}
	if s.End != nil || !s.Remote && !s.State.mayLive() && !s.Presumed { // a remote process may have created the ids before it ended
		return Process{}, fmt.Errorf("%w: %v", ErrEnded, s.GPID)
	}
	p, now := s.Process, wall(r.options.Now)
	known, started := len(p.Adopted), p.started()
	if p.adopted() {
		started = minTime(started, p.From)
	}
	if err := p.adopt(evidence, layout, started, now); err != nil {
		return Process{}, err
	}
	for i := range p.Adopted[known:] {
		if err := r.claimValue(ctx, &p, &p.Adopted[known+i], now.UTC().Truncate(time.Millisecond)); err != nil {
			return Process{}, err
		}
	}
	if _, err := amend(ctx, r.store, processRecords, processKey(p.GPID, p.Block), func(doc *record) error {
		doc.addAdopted(p.Adopted) // the process may write its record meanwhile; it keeps them
		return nil
	}); err != nil {
		return Process{}, fmt.Errorf("registry: write the record of %v: %w", p.GPID, err)
	}
	return p, r.collision(ctx, &p)
}
