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

// processKey returns the key of a record. Records of one run, and of one address, are
// adjacent and ordered by start time.
func processKey(g gpid.GPID, block string) string { return g.String() + "/" + block }

// sampleKey returns the key of a document whose first sample was taken at t.
func sampleKey(block string, t time.Time) string { return block + ":" + millis(t) }

// adoptionKey returns the key of the claim of an adopted value.
func adoptionKey(value string, from time.Time, block string) string {
	return value + ":" + millis(from) + ":" + block
}

// millis formats t so that texts sort like times, from 1970 to 2286.
func millis(t time.Time) string { return fmt.Sprintf("%013d", max(t.UnixMilli(), 0)) }

// blockOf returns the process block of id in hexadecimal.
func blockOf(id objectid.ID) string { return hex.EncodeToString(id[4:8]) }

// valueOf returns the process value of id in hexadecimal.
func valueOf(id objectid.ID) string { return hex.EncodeToString(id[4:9]) }

// storeKey returns s as a key of the store. s consists of digits and addresses, which are
// always valid UTF-8.
func storeKey(s string) store.Key {
	k, err := store.StringKey(s)
	if err != nil {
		panic(err)
	}
	return k
}

// between returns the range of keys from one text, including it, to another, excluding it.
func between(from, to string) store.Range { return store.Range{From: storeKey(from), To: storeKey(to)} }

// valueRange contains the claim of a block and those of the adopted values in it. After the
// block, their keys continue with digits or a colon, which sort before g.
func valueRange(block string) store.Range { return between(block, block+"g") }

// runRange contains the records of one run: in ASCII, 0 follows the slash.
func runRange(g gpid.GPID) store.Range { return between(g.String()+"/", g.String()+"0") }

// addrRange contains the records of one address: in ASCII, the semicolon follows the colon.
func addrRange(a netip.AddrPort) store.Range { return between(a.String()+":", a.String()+";") }

// sampleRange contains the samples of a process between two times. A zero time means no
// bound.
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
