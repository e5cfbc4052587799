package registry

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// processKey is the key of a record: those of one run, and those of one address,
// are adjacent, ordered by start time.
func processKey(g gpid.GPID, block string) string { return g.String() + "/" + block }

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
	k, err := store.StringKey(s)
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
