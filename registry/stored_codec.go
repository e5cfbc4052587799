package registry

import (
	"encoding/binary"
	"errors"
	"time"
)

// Samples are stored one after another, each as the difference from the previous sample:
//
//	count     uvarint
//	time      uvarint of milliseconds since the previous sample, or since 1970
//	changed   uvarint: bit 0 is set if a change is not a multiple of its step, and
//	          bit i+1 if number i of [LoadFields] changed
//	changes   a signed varint for each changed number, in steps or in units
//
// The first sample is a change from numbers that are not known. A change from such a number
// is the new number itself. Values of 16 steps or more are rounded down to a multiple of
// their step. Reading skips numbers that this package does not know: a newer version has
// stored them.

// exactBelow is the number of steps from which values are rounded.
const exactBelow = 16

const inUnits = 1

// rounded returns n with the precision in which it is stored.
func (n numbers) rounded() numbers {
	for i := range n {
		if step := loadFields[i].step; n[i] >= exactBelow*step {
			n[i] -= n[i] % step
		}
	}
	return n
}

// appendSamples appends samples, which must be in order of time, to b.
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
var errCutShort = errors.New("data is truncated or was not written by this package")

// reader reads binary data of documents. After an error it returns zeros.
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

// bytes returns the next n bytes. After an error it returns zeros.
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

// samples reads what appendSamples has written.
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
