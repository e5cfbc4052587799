package registry

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
)

// Samples are stored one after another, each as its difference from the one before:
//
//	count     uvarint
//	time      uvarint of Unix milliseconds, or of milliseconds since the sample before
//	changed   uvarint: bit 0 is set if a change is not a multiple of its step, and
//	          bit i+1 if number i of [LoadFields] changed
//	changes   a signed varint for each changed number, in steps or in units
//
// Of the sample before the first one nothing is known. A change from a number that is
// not known is the number itself. A value of 16 steps or more is rounded to a step.
// Numbers that this package does not know are left out: a newer one has stored them.

// exactBelow is the number of steps from which a value is rounded.
const exactBelow = 16

const inUnits = 1

// rounded returns n with the precision that is stored.
func (n numbers) rounded() numbers {
	for i := range n {
		if step := loadFields[i].step; n[i] >= exactBelow*step {
			n[i] -= n[i] % step
		}
	}
	return n
}

// appendSamples appends samples, which are in order of time, to b.
func appendSamples(b []byte, samples []Sample) []byte {
	b = binary.AppendUvarint(b, uint64(len(samples)))
	var at int64
	before := unmeasured
	for k := range samples {
		t, now := max(samples[k].Time.UnixMilli(), at), numbersOf(&samples[k].Load).rounded()
		b = binary.AppendUvarint(b, uint64(t-at))
		changed := uint64(0)
		for i := range now {
			if now[i] != before[i] {
				changed |= 2 << i
				if before[i] = now[i] - max(before[i], 0); before[i]%loadFields[i].step != 0 {
					changed |= inUnits
				}
			}
		}
		b = binary.AppendUvarint(b, changed)
		for i := range now {
			if changed&(2<<i) == 0 {
				continue
			}
			step := loadFields[i].step
			if changed&inUnits != 0 {
				step = 1
			}
			b = binary.AppendVarint(b, before[i]/step)
		}
		at, before = t, now
	}
	return b
}

// errCutShort means that stored bytes are not what this package writes.
var errCutShort = errors.New("its bytes are cut short or not those of a registry")

// reader reads what is stored in binary. After an error it reads zeros.
type reader struct {
	b   []byte
	err error
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	return advance(r, v, n)
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.b)
	return advance(r, v, n)
}

func advance[T any](r *reader, v T, n int) T {
	if n <= 0 || r.err != nil {
		r.err = errCutShort
		var zero T
		return zero
	}
	r.b = r.b[n:]
	return v
}

// bytes returns the next n bytes, or n zeros.
func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) || r.err != nil {
		r.err = errCutShort
		return make([]byte, min(n, 64))
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) byte() byte { return r.bytes(1)[0] }

// samples reads what appendSamples wrote.
func (r *reader) samples() []Sample {
	n := r.uvarint()
	if n > uint64(len(r.b)) { // a sample has two bytes at least
		r.err = errCutShort
		return nil
	}
	samples := make([]Sample, 0, n+1) // a heartbeat adds one
	var at int64
	now := unmeasured
	for range n {
		at += int64(r.uvarint())
		changed := r.uvarint()
		for i, left := 0, changed>>1; left != 0; i, left = i+1, left>>1 {
			if left&1 == 0 {
				continue
			}
			change := r.varint()
			if i >= len(now) {
				continue
			}
			if changed&inUnits == 0 {
				change *= loadFields[i].step
			}
			now[i] = max(now[i], 0) + change
		}
		if r.err != nil {
			return nil
		}
		samples = append(samples, Sample{Time: time.UnixMilli(at).UTC()})
		now.set(&samples[len(samples)-1].Load)
	}
	return samples
}

// An essence is what a claim keeps of a pruned process, so that its ids are still
// traced: shorter than the key of the record, in whose place it is.
//
//	flags, length of the address and the address, port (2 bytes), then as varints the
//	pid, From in milliseconds, and since it the start in microseconds, Confirmed and
//	the last heartbeat in milliseconds, the interval in milliseconds, with isCopied
//	Copied since From, with wasGone Gone, with clockKnown its bounds in nanoseconds;
//	without hasEnded the last 4 bytes of the member; with isAdopted the first and last
//	4 bytes of the sample; and the name
const (
	isRemote = 1 << iota
	hasEnded
	isCopied
	clockKnown
	isAdopted
	wasGone
)

// of reports whether the claim is that of a member.
func (h *holding) of(member objectid.ID) bool {
	if h.Essence != nil {
		return [4]byte(h.Member[8:]) == [4]byte(member[8:]) && h.Pruned.End == nil
	}
	return h.Member == member
}

// maxName bounds the name that remains of a pruned process.
const maxName = 24

func essenceOf(p *Process) []byte {
	flags := byte(0)
	for flag, set := range map[byte]bool{
		isRemote: p.Remote, hasEnded: p.End != nil, isCopied: !p.Copied.IsZero(), clockKnown: p.Clock != nil, isAdopted: p.adopted(), wasGone: !p.Gone.IsZero(),
	} {
		if set {
			flags |= flag
		}
	}
	addr := p.GPID.Addr()
	ip := addr.Addr().AsSlice()
	b := append([]byte{flags, byte(len(ip))}, ip...)
	b = binary.BigEndian.AppendUint16(b, addr.Port())
	since := func(t time.Time) int64 { return t.UnixMilli() - p.From.UnixMilli() }
	for _, n := range []int64{
		int64(p.GPID.PID()), p.From.UnixMilli(), p.GPID.Start().UnixMicro() - p.From.UnixMicro(), since(p.Confirmed), since(p.Last.Time), p.Interval.Milliseconds(),
	} {
		b = binary.AppendVarint(b, n)
	}
	for _, t := range []time.Time{p.Copied, p.Gone} {
		if !t.IsZero() {
			b = binary.AppendVarint(b, since(t))
		}
	}
	if p.Clock != nil {
		b = binary.AppendVarint(b, int64(p.Clock.Min))
		b = binary.AppendVarint(b, int64(p.Clock.Max))
	}
	if p.End == nil { // otherwise it does not come back
		b = append(b, p.Member[8:]...)
	}
	if p.adopted() {
		b = append(b, p.EvidenceID[:4]...)
		b = append(b, p.EvidenceID[8:]...)
	}
	return append(b, strings.ToValidUTF8(p.Name[:min(len(p.Name), maxName)], "")...)
}

// expand sets what the essence of a claim says, if it has one.
func (h *holding) expand() error {
	if h.Essence == nil {
		return nil
	}
	r := reader{b: h.Essence}
	flags := r.byte()
	ip, _ := netip.AddrFromSlice(r.bytes(uint64(r.byte())))
	port := binary.BigEndian.Uint16(r.bytes(2))
	pid, from, start := r.varint(), r.varint(), r.varint()
	at := func(n int64) time.Time { return time.UnixMilli(from + n).UTC() }
	p := &Process{From: at(0), Confirmed: at(r.varint()), Remote: flags&isRemote != 0, moved: true}
	p.Last = Heartbeat{Time: at(r.varint()), Load: noLoad}
	p.Interval = time.Duration(r.varint()) * time.Millisecond
	if flags&isCopied != 0 {
		p.Copied = at(r.varint())
	}
	if flags&wasGone != 0 {
		p.Gone = at(r.varint())
	}
	if flags&clockKnown != 0 {
		p.Clock = &ClockOffset{Min: time.Duration(r.varint()), Max: time.Duration(r.varint())}
	}
	if p.End = (&End{Time: p.Last.Time, Reason: "ended; its record was pruned"}); flags&hasEnded == 0 {
		p.End = nil
		copy(p.Member[8:], r.bytes(4))
	}
	if flags&isAdopted != 0 {
		copy(p.EvidenceID[:4], r.bytes(4))
		_, _ = hex.Decode(p.EvidenceID[4:8], []byte(h.Key[:min(len(h.Key), 8)]))
		copy(p.EvidenceID[8:], r.bytes(4))
	}
	p.Name = string(r.b)
	var block string
	if p.Value, block, _ = strings.Cut(h.Key, ":"); block == "" {
		p.Block = p.Value
	} else {
		p.Block = block[strings.LastIndexByte(block, ':')+1:]
	}
	g, err := gpid.New(netip.AddrPortFrom(ip, port), time.UnixMicro(at(0).UnixMicro()+start), int(pid))
	if r.err != nil {
		err = r.err
	}
	if err != nil {
		return fmt.Errorf("registry: claim %s of a pruned process: %w", h.Key, err)
	}
	p.GPID = g
	h.Pruned, h.Process, h.Member = p, processKey(g, p.Block), p.Member
	if p.adopted() {
		h.Adopted = &Adopted{Value: p.Value, EvidenceID: p.EvidenceID, From: p.From, Confirmed: p.Confirmed}
	}
	return nil
}

// read reads the document from BSON.
func (h *holding) read(raw bson.Raw) error {
	if err := bson.Unmarshal(raw, h); err != nil {
		return err
	}
	return h.expand()
}
