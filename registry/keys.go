package registry

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// processKey is the key of a record: those of one run, and those of one address,
// are adjacent, ordered by start time.
func processKey(g gpid.GPID, block string) string { return g.String() + "/" + block }

// livingKey is the key of a living record. The block comes first, and two members
// that have one block, after a claim was lost, have a record each.
func livingKey(block string, member objectid.ID) string {
	return block + hex.EncodeToString(member[8:])
}

// MemberKey names a registration for ever: the 8 hexadecimal digits of the process
// block that it has claimed, and those of the last 4 bytes of [Process.Member]. Two
// processes may have one GPID, such as those with pid 1 in containers that were
// started at once; they never have one MemberKey. It is the key of the living record.
type MemberKey string

// ParseMemberKey reads a key of 16 hexadecimal digits in lower case.
func ParseMemberKey(s string) (MemberKey, error) {
	if len(s) != 16 || strings.Trim(s, "0123456789abcdef") != "" {
		return "", fmt.Errorf("registry: member %q, want 16 hexadecimal digits in lower case", s)
	}
	return MemberKey(s), nil
}

// Key returns the key of the registration, or "" if it has claimed no block yet.
func (p *Process) Key() MemberKey {
	if p.Block == "" {
		return ""
	}
	return MemberKey(livingKey(p.Block, p.Member))
}

// has reports whether a record of its block is that of the member.
func (k MemberKey) has(member objectid.ID) bool {
	return string(k[8:]) == hex.EncodeToString(member[8:])
}

// sampleKey is the key of samples whose first one was taken at t.
func sampleKey(block string, t time.Time) string { return block + ":" + millis(t) }

// adoptionKey is the key of an adopted value.
func adoptionKey(value string, from time.Time, block string) string {
	return value + ":" + millis(from) + ":" + block
}

// millis formats t so that the texts sort like the times, from 1970 to 2286.
func millis(t time.Time) string { return fmt.Sprintf("%013d", max(t.UnixMilli(), 0)) }

// blockOf and valueOf return the process bytes of id as text.
func blockOf(id objectid.ID) string { return hex.EncodeToString(id[4:8]) }
func valueOf(id objectid.ID) string { return hex.EncodeToString(id[4:9]) }

// storeKey returns s as a key of the store. It consists of digits and addresses, which
// are always UTF-8.
func storeKey(s string) store.Key {
	k, err := store.String(s)
	if err != nil {
		panic(err)
	}
	return k
}

// between returns the range of the keys from one text to another.
func between(from, to string) store.Range { return store.Range{From: storeKey(from), To: storeKey(to)} }

// valueRange contains the claim of a block and the adopted values in it. All of its
// keys continue with digits or a colon, which sort before g.
func valueRange(block string) store.Range { return between(block, block+"g") }

// runRange contains the records of one run: in ASCII, 0 follows the slash.
func runRange(g gpid.GPID) store.Range { return between(g.String()+"/", g.String()+"0") }

// addrRange contains the records of one address: in ASCII, the semicolon follows
// the colon.
func addrRange(a netip.AddrPort) store.Range { return between(a.String()+":", a.String()+";") }

// sampleRange contains the samples of a process from one time to another; a zero
// time means no bound.
func sampleRange(block string, from, to time.Time) store.Range {
	r := between(block+":", block+";")
	if !from.IsZero() {
		r.From = storeKey(sampleKey(block, from))
	}
	if !to.IsZero() {
		r.To = storeKey(sampleKey(block, to))
	}
	return r
}
