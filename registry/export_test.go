package registry

import (
	"io"
	"slices"
	"time"
)

// Monotonic returns the time since the boot of this host, by the clock of heartbeats.
func Monotonic() time.Duration { return monotonic() }

// Record is the document of a process.
type Record = record

// RecordOf returns the document of p.
func RecordOf(p Process) Record { return recordOf(p) }

// LivingOf returns the living record of p, which has no samples.
func LivingOf(p Process) LivingRecord {
	return livingOf(&p, 0)
}

// SamplesOf returns the document of samples of a process.
func SamplesOf(block string, all ...Sample) any {
	return samplesDoc(block, all)
}

// LivingRecord is the document that a heartbeat writes.
type LivingRecord = living

// Changed returns l after a change to its process.
func (l living) Changed(change func(p *Process)) living {
	p := Process{GPID: l.gpid, Last: l.last}
	change(&p)
	l.last = p.Last
	return l
}

// SetRandom sets the source of the blocks of r, which is not shared yet.
func (r *Registry) SetRandom(random io.Reader) { r.random = random }

// SetKeepSamples sets for how long the processes of r keep their samples.
func (r *Registry) SetKeepSamples(d time.Duration) { r.keepSamples = d }

// Clone returns a copy of m as it is in a copy of the whole process.
func (m *Member) Clone() *Member {
	m.working.Lock()
	defer m.working.Unlock()
	from, own := m.recorder, New(m.recorder.registry.store, &m.recorder.registry.options)
	c := own.newMember(from.process(), &RegisterOptions{Offline: m.offline}, true)
	c.sampler, c.reader = m.sampler, m.reader
	c.recorder = &recorder{registry: own, random: own.random, clock: from.clock, registration: from.registration, p: from.process()}
	c.recorder.unstored = slices.Clone(from.unstored)
	c.generator, c.block = m.Generator(), m.block
	go c.run()
	return c
}

// Reseed does what the generator of a copy does when its clock jumps: the one that
// Clone returns has the generator of the original.
func (m *Member) Reseed() { m.reseed() }

// SetPruneSizes sets how many entries are pruned at once and how many records are read
// together.
func (r *Registry) SetPruneSizes(atOnce, batch int) { r.pruneAtOnce, r.pruneBatch = atOnce, batch }

// SetMaxRead sets how many records a call of Page reads.
func (r *Registry) SetMaxRead(n int) { r.maxRead = n }

// HourOf returns the beginning of the hour of a process with the block that t is in.
func HourOf(block string, t time.Time) time.Time { return hourOf(block, t) }

// SetMaxClaims sets how many claims and hosts t reads at most.
func (t *Tracer) SetMaxClaims(n int) { t.maxClaims = n }

// Kept returns how many traces of known ids and of others t remembers.
func (t *Tracer) Kept() (known, others int) { return len(t.known), len(t.others) }
