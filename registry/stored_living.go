package registry

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
)

// maxRecent is the number of samples in a living record. When that many are new, they
// become a document of samples.
const maxRecent = 6

// living is the document that each heartbeat writes: everything that changes while a
// process lives. It is small, because writing it is the main cost of a registry.
type living struct {
	raw bson.Raw // as it is stored, or nil

	// key begins with the block of the process, which spreads heartbeats evenly over the
	// keys.
	key string
	// write is random for each write, so that a recorder recognises its own writes.
	write    [8]byte
	gpid     gpid.GPID
	interval time.Duration // in whole milliseconds
	last     Heartbeat
	recent   []Sample // the latest ones, at most maxRecent
	unstored int      // how many of them are not in a document of samples
	clock    *ClockOffset
	end      *End
	adopted  bool
}

// livingOf returns the living record of p. pending is how many of its latest samples are
// not yet in a document of samples.
func livingOf(p *Process, pending int) living {
	return living{
		key: livingKey(p.Block, p.Member), write: newWrite(), gpid: p.GPID, interval: p.Interval, last: p.Last, recent: p.Recent,
		unstored: min(pending, len(p.Recent)), clock: p.Clock, end: p.End, adopted: p.adopted(),
	}
}

// newWrite returns random bytes, which differ between copies of a process.
func newWrite() (w [8]byte) {
	rand.Read(w[:])
	return w
}

const (
	hasClock = 1 << iota
	hasEnd
	byDriver
)

func (l living) MarshalBSON() ([]byte, error) { return dataDoc(l.key, l.appendTo(nil)), nil }

// appendTo appends the data of the document to b:
//
//	flags, write (8 bytes), GPID (32 bytes);
//	as varints the interval in milliseconds, the count, the monotonic time in nanoseconds;
//	the samples, and how many of them are unstored;
//	the time of the heartbeat in milliseconds since the last sample;
//	with hasClock the two bounds of the clock offset in nanoseconds;
//	with hasEnd its time in milliseconds since the heartbeat, and the length and text of the reason
func (l *living) appendTo(b []byte) []byte {
	flags := byte(0)
	if l.clock != nil {
		flags |= hasClock
	}
	if l.end != nil {
		flags |= hasEnd
	}
	if l.adopted {
		flags |= byDriver
	}
	b = append(slices.Grow(b, 160), flags)
	b = append(b, l.write[:]...)
	b, _ = l.gpid.AppendBinary(b) // always nil
	b = binary.AppendUvarint(b, uint64(l.interval.Milliseconds()))
	b = binary.AppendUvarint(b, uint64(l.last.Count))
	b = binary.AppendUvarint(b, uint64(l.last.Monotonic))
	b = appendSamples(b, l.recent)
	b = binary.AppendUvarint(b, uint64(l.unstored))
	b = binary.AppendVarint(b, l.last.Time.UnixMilli()-l.latest())
	if l.clock != nil {
		b = binary.AppendVarint(b, int64(l.clock.Min))
		b = binary.AppendVarint(b, int64(l.clock.Max))
	}
	if l.end != nil {
		b = binary.AppendVarint(b, l.end.Time.UnixMilli()-l.last.Time.UnixMilli())
		b = binary.AppendUvarint(b, uint64(len(l.end.Reason)))
		b = append(b, l.end.Reason...)
	}
	return b
}

// latest returns the time of the latest sample in Unix milliseconds, or 0.
func (l *living) latest() int64 {
	if len(l.recent) == 0 {
		return 0
	}
	return l.recent[len(l.recent)-1].Time.UnixMilli()
}

// read reads the document from BSON, and keeps raw.
func (l *living) read(raw bson.Raw) error {
	key, data, err := splitData(raw)
	if err == nil && len(key) < 8 {
		err = fmt.Errorf("_id %q: want a block and a member", key)
	}
	if err != nil {
		return err
	}
	r := reader{b: data}
	*l = living{raw: raw, key: key}
	flags := r.byte()
	l.adopted = flags&byDriver != 0
	copy(l.write[:], r.bytes(8))
	err = l.gpid.UnmarshalBinary(r.bytes(32))
	l.interval = time.Duration(r.uvarint()) * time.Millisecond
	l.last.Count = int64(r.uvarint())
	l.last.Monotonic = time.Duration(r.uvarint())
	l.recent = r.samples()
	l.unstored = int(min(r.uvarint(), uint64(len(l.recent))))
	l.last.Time = time.UnixMilli(l.latest() + r.varint()).UTC()
	l.last.Load = noLoad
	if n := len(l.recent); n > 0 {
		l.last.Load = l.recent[n-1].Load
	}
	if flags&hasClock != 0 {
		l.clock = &ClockOffset{Min: time.Duration(r.varint()), Max: time.Duration(r.varint())}
	}
	if flags&hasEnd != 0 {
		at := time.UnixMilli(l.last.Time.UnixMilli() + r.varint()).UTC()
		l.end = &End{Time: at, Reason: string(r.bytes(r.uvarint()))}
	}
	if r.err != nil {
		err = r.err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

func (l *living) block() string { return l.key[:8] }

// applyTo updates p, which comes from the record, with what the living record says. l may
// be nil.
func (l *living) applyTo(p *Process) {
	if l == nil || l.gpid != p.GPID || l.last.Count < p.Last.Count {
		return // of an older registration, or the record was written later
	}
	p.Last, p.Recent, p.Clock = l.last, l.recent, l.clock
	if l.end != nil {
		p.End = l.end
	}
}
