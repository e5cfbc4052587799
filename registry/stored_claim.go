package registry

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// claim is the document that gives a block or an adopted value to a member.
type claim struct {
	Key     string      `bson:"_id"`
	Format  int         `bson:"v"`
	Member  objectid.ID `bson:"member,omitempty"`
	Process string      `bson:"process,omitempty"` // key of the record
	// Adopted is set in the claim of an adopted value.
	Adopted *Adopted `bson:"adopted,omitempty"`
	// Idle is set if no ids are created with the block.
	Idle bool `bson:"idle,omitempty"`
	// Essence replaces Member, Process and Adopted after the record was pruned. Reading the
	// document sets these fields and Pruned from it. Otherwise Pruned is nil.
	Essence []byte   `bson:"essence,omitempty"`
	Pruned  *Process `bson:"-"`
}

// of reports whether the claim belongs to member.
func (cl *claim) of(member objectid.ID) bool {
	if cl.Essence != nil {
		return [4]byte(cl.Member[8:]) == [4]byte(member[8:]) && cl.Pruned.End == nil
	}
	return cl.Member == member
}

// An essence is what a claim keeps of a pruned process, so that its ids can still be
// traced. It is shorter than the key of the record, which it replaces. It consists of:
//
//	flags, length of the address, the address, and the port (2 bytes);
//	as varints the pid; From in Unix milliseconds; the start in microseconds since From;
//	Confirmed and the last heartbeat in milliseconds since From; the interval in milliseconds;
//	with isCopied Copied, and with wasGone Gone, in milliseconds since From;
//	with clockKnown the two bounds of Clock in nanoseconds;
//	without hasEnded the last 4 bytes of the member;
//	with isAdopted the first and the last 4 bytes of the evidence id; and the name
const (
	isRemote = 1 << iota
	hasEnded
	isCopied
	clockKnown
	isAdopted
	wasGone
	startUnknown
)

// maxName bounds the length of the name of a pruned process, in bytes.
const maxName = 24

func essenceOf(p *Process) []byte {
	flags := byte(0)
	for flag, set := range map[byte]bool{
		isRemote: p.Remote, hasEnded: p.End != nil, isCopied: !p.Copied.IsZero(), clockKnown: p.Clock != nil, isAdopted: p.adopted(), wasGone: !p.Gone.IsZero(), startUnknown: p.StartUnknown,
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

// expand sets the fields of a claim that its essence contains, if it has one.
func (cl *claim) expand() error {
	if cl.Essence == nil {
		return nil
	}
	r := reader{b: cl.Essence}
	flags := r.byte()
	ip, _ := netip.AddrFromSlice(r.bytes(uint64(r.byte())))
	port := binary.BigEndian.Uint16(r.bytes(2))
	pid, from, start := r.varint(), r.varint(), r.varint()
	at := func(n int64) time.Time { return time.UnixMilli(from + n).UTC() }
	p := &Process{From: at(0), Confirmed: at(r.varint()), Remote: flags&isRemote != 0, StartUnknown: flags&startUnknown != 0, moved: true}
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
		_, _ = hex.Decode(p.EvidenceID[4:8], []byte(cl.Key[:min(len(cl.Key), 8)]))
		copy(p.EvidenceID[8:], r.bytes(4))
	}
	p.Name = string(r.b)
	var block string
	if p.Value, block, _ = strings.Cut(cl.Key, ":"); block == "" {
		p.Block = p.Value
	} else {
		p.Block = block[strings.LastIndexByte(block, ':')+1:]
	}
	g, err := gpid.New(netip.AddrPortFrom(ip, port), time.UnixMicro(at(0).UnixMicro()+start), int(pid))
	if r.err != nil {
		err = r.err
	}
	if err != nil {
		return fmt.Errorf("%s, the claim of a pruned process: %w", cl.Key, err)
	}
	p.GPID = g
	cl.Pruned, cl.Process, cl.Member = p, processKey(g, p.Block), p.Member
	if p.adopted() {
		cl.Adopted = &Adopted{Value: p.Value, EvidenceID: p.EvidenceID, From: p.From, Confirmed: p.Confirmed}
	}
	return nil
}

// read reads the document from BSON.
func (cl *claim) read(raw bson.Raw) error {
	if err := bson.Unmarshal(raw, cl); err != nil {
		return err
	}
	return cl.expand()
}

// claimsByBlock maps each block to its claim and to the claims of adopted values in it.
type claimsByBlock map[string][]*claim

// fewClaims is the largest number of claims that most blocks have.
const fewClaims = 4

// claims reads the claims of the blocks of values, which have 8 or 10 digits.
func (r *Registry) claims(ctx context.Context, used []string) (claimsByBlock, error) {
	all := claimsByBlock{}
	var blocks []string
	var ranges []store.Range
	for _, value := range used {
		block := value[:8]
		if _, there := all[block]; !there {
			all[block] = nil
			blocks, ranges = append(blocks, block), append(ranges, valueRange(block))
		}
	}
	found, err := findMany[claim](ctx, r.store, claimRecords, ranges, fewClaims)
	if err != nil {
		return nil, err
	}
	for i, holders := range found {
		all[blocks[i]] = holders
	}
	return all, nil
}

// holders returns the claims of a value of 8 or 10 digits.
func (c claimsByBlock) holders(value string) (found []*claim) {
	for _, cl := range c[value[:8]] {
		if held, _, _ := strings.Cut(cl.Key, ":"); !cl.Idle && overlap(held, value) {
			found = append(found, cl)
		}
	}
	return found
}

// has reports whether p has a claim for its block.
func (c claimsByBlock) has(p *Process) bool {
	return slices.ContainsFunc(c[p.Block], func(cl *claim) bool { return cl.Key == p.Block && cl.of(p.Member) })
}

// overlap reports whether an id can have both values, of 8 or 10 digits.
func overlap(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }
