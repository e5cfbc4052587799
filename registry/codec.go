package registry

import (
	"encoding/binary"
	"errors"
	"time"
)

// Samples are stored one after another, each as its difference from the one before:
//
//	count     uvarint
//	time      uvarint of Unix milliseconds, or of milliseconds since the sample before
//	changed   a byte: bit i is set if field i changed, bit 7 if a change is not
//	          a multiple of its step
//	changes   a signed varint for each changed field, in steps or in units
//
// The fields are those of [Load] in their order. The sample before the first one is
// zero. A value of 16 steps or more is rounded to a step.

// steps are the precision of the fields of a stored sample: 10 ms, 4 KiB and 64 KiB.
var steps = [6]int64{int64(10 * time.Millisecond), 4 << 10, 1, 1, 1, 64 << 10}

// exactBelow is the number of steps from which a value is rounded.
const exactBelow = 16

const inUnits = 1 << 7

func fields(l Load) [6]int64 {
	return [6]int64{int64(l.CPU), l.RSS, l.Files, l.Threads, l.Goroutines, l.Heap}
}

func loadOf(f [6]int64) Load {
	return Load{CPU: time.Duration(f[0]), RSS: f[1], Files: f[2], Threads: f[3], Goroutines: f[4], Heap: f[5]}
}

// rounded returns f with the precision that is stored.
func rounded(f [6]int64) [6]int64 {
	for i, step := range steps {
		if f[i] >= exactBelow*step {
			f[i] -= f[i] % step
		}
	}
	return f
}

// appendSamples appends samples, which are in order of time, to b.
func appendSamples(b []byte, samples []Sample) []byte {
	b = binary.AppendUvarint(b, uint64(len(samples)))
	var at int64
	var before [6]int64
	for _, s := range samples {
		t, f := max(s.Time.UnixMilli(), at), rounded(fields(s.Load))
		b = binary.AppendUvarint(b, uint64(t-at))
		changed := byte(0)
		for i, step := range steps {
			if d := f[i] - before[i]; d != 0 {
				changed |= 1 << i
				if d%step != 0 {
					changed |= inUnits
				}
			}
		}
		b = append(b, changed)
		for i, step := range steps {
			if changed&(1<<i) == 0 {
				continue
			}
			if changed&inUnits != 0 {
				step = 1
			}
			b = binary.AppendVarint(b, (f[i]-before[i])/step)
		}
		at, before = t, f
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
	samples := make([]Sample, 0, n)
	var at int64
	var f [6]int64
	for range n {
		at += int64(r.uvarint())
		changed := r.byte()
		for i, step := range steps {
			if changed&(1<<i) == 0 {
				continue
			}
			if changed&inUnits != 0 {
				step = 1
			}
			f[i] += r.varint() * step
		}
		if r.err != nil {
			return nil
		}
		samples = append(samples, Sample{Time: time.UnixMilli(at).UTC(), Load: loadOf(f)})
	}
	return samples
}
