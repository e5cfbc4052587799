package registry

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// Collections of a registry, see the package comment.
const (
	processRecords  = "oid.processes"
	livingRecords   = "oid.living"
	endedRecords    = "oid.ended"
	registryRecords = "oid.registry"
	claimRecords    = "oid.values"
	sampleRecords   = "oid.samples"
	hostRecords     = "oid.hosts"
)

// format is the version of the documents, in their field v. This package writes and
// reads this one alone. Raise it if an older program would misread what this one writes;
// a field that it can ignore needs no other version.
const format = 1

// record is the document of a process: what does not change while it lives, and what
// was known of it when it was written. A living record says what is known since.
type record struct {
	Key    string `bson:"_id"`
	Format int    `bson:"v"`
	// Final is set when there is no living record any more.
	Final   bool `bson:"final,omitempty"`
	Process `bson:",inline"`
}

// read reads the document from BSON. A number of the load that it does not have is not
// measured.
func (d *record) read(raw bson.Raw) error {
	d.Last.Load = noLoad
	return bson.Unmarshal(raw, d)
}

func recordOf(p Process) record {
	return record{Key: processKey(p.GPID, p.Block), Format: format, Process: p}
}

// alone returns the process as its record describes it, without a living record.
func (d *record) alone() *Process {
	d.moved = d.Final
	return &d.Process
}

// randomID returns an id that differs in the copies of a process: [objectid.New]
// goes on with the same counter in each of them.
func randomID() objectid.ID {
	id := objectid.MinAt(time.Now())
	rand.Read(id[4:])
	return id
}

// holding is the document of a claim: which member has a block or a value.
type holding struct {
	Key     string      `bson:"_id"`
	Format  int         `bson:"v"`
	Member  objectid.ID `bson:"member,omitempty"`
	Process string      `bson:"process,omitempty"` // key of the record
	// Adopted is set if the claim is that of an adopted value.
	Adopted *Adopted `bson:"adopted,omitempty"`
	// Idle is set if no ids are created with the block.
	Idle bool `bson:"idle,omitempty"`
	// Essence is what remains of the process after its record was pruned, in the
	// place of Member, Process and Adopted. Reading the document sets these from it, and
	// Pruned, which is otherwise nil.
	Essence []byte   `bson:"e,omitempty"`
	Pruned  *Process `bson:"-"`
}

// dataDoc returns the BSON of a [living] or a [sampleDoc]: its key, the format version
// and binary data. Each heartbeat is one, and [bson.Marshal] takes many times as long.
func dataDoc(key string, data []byte) bson.Raw {
	b := make([]byte, 4, 32+len(key)+len(data)) // begins with the size
	b = append(append(b, byte(bson.TypeString)), "_id\x00"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(key)+1))
	b = append(append(b, key...), 0)
	b = append(append(b, byte(bson.TypeInt32)), "v\x00"...)
	b = binary.LittleEndian.AppendUint32(b, format)
	b = append(append(b, byte(bson.TypeBinary)), "d\x00"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	b = append(append(b, bson.TypeBinaryGeneric), data...)
	b = append(b, 0)
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	return b
}

// splitData returns the key and the data of a dataDoc. The data is a part of raw.
func splitData(raw bson.Raw) (key string, data []byte, err error) {
	key, isKey := raw.Lookup("_id").StringValueOK()
	_, data, isData := raw.Lookup("d").BinaryOK()
	if !isKey || !isData {
		err = fmt.Errorf("%v: want text as _id, and binary data as d", raw.Lookup("_id"))
	}
	return key, data, err
}

// decode reads a document of a collection. The error wraps [ErrFormat] if it has
// another format version than this package writes.
func decode[T any](raw bson.Raw, collection string) (doc T, err error) {
	v := raw.Lookup("v")
	if n, ok := v.AsInt64OK(); !ok || n != format {
		return doc, fmt.Errorf("%w: %v of %s has format version %s, want %d", ErrFormat, raw.Lookup("_id"), collection, cmp.Or(v.String(), "none"), format)
	}
	if r, ok := any(&doc).(interface{ read(bson.Raw) error }); ok { // much faster, of documents of which there are many
		err = r.read(raw)
	} else {
		err = bson.Unmarshal(raw, &doc)
	}
	if err != nil {
		return doc, fmt.Errorf("registry: read document of %s: %w", collection, err)
	}
	return doc, nil
}

// getDoc reads one document.
func getDoc[T any](ctx context.Context, s store.Store, collection, k string) (doc T, err error) {
	raw, err := s.Get(ctx, collection, storeKey(k))
	if err != nil {
		return doc, fmt.Errorf("registry: read %s of %s: %w", k, collection, err)
	}
	return decode[T](raw, collection)
}

// unlessNotFound returns err unless it says that a document is not there.
func unlessNotFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// errAsIs is returned by a change that leaves a document as it is.
var errAsIs = errors.New("as it is")

// amend changes the document with a key and returns it. Others may write it at the same
// time: the change is then made again. An error of the change ends it.
func amend[T any](ctx context.Context, s store.Store, collection, k string, change func(doc *T) error) (*T, error) {
	for {
		raw, err := s.Get(ctx, collection, storeKey(k))
		if err != nil {
			return nil, err
		}
		doc, err := decode[T](raw, collection)
		if err == nil {
			err = change(&doc)
		}
		if errors.Is(err, errAsIs) {
			return &doc, nil
		}
		if err == nil {
			_, err = s.Swap(ctx, collection, raw, doc)
		}
		if !errors.Is(err, store.ErrConflict) {
			return &doc, err
		}
	}
}

// findDocs finds and decodes documents. The first error ends the sequence.
func findDocs[T any](ctx context.Context, s store.Store, collection string, q store.Query) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for raw, err := range s.Find(ctx, collection, q) {
			if err != nil {
				yield(nil, fmt.Errorf("registry: read %s: %w", collection, err))
				return
			}
			doc, err := decode[T](raw, collection)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(&doc, nil) {
				return
			}
		}
	}
}

// swapAll does swaps and returns how many were done. Documents that others have
// written or deleted meanwhile are left as they are.
func swapAll(ctx context.Context, s store.Store, collection string, swaps []store.Swap) (int, error) {
	_, err := s.SwapMany(ctx, collection, swaps)
	refused, ok := errors.AsType[*store.BulkError](err)
	if !ok {
		return len(swaps), err
	}
	for _, r := range refused.Refused {
		if !errors.Is(r.Err, store.ErrConflict) && !errors.Is(r.Err, store.ErrNotFound) {
			return 0, r.Err
		}
	}
	return len(swaps) - len(refused.Refused), nil
}

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

// valid reports whether k is 16 hexadecimal digits in lower case.
func (k MemberKey) valid() bool {
	return len(k) == 16 && strings.Trim(string(k), "0123456789abcdef") == ""
}

// Key returns the key of the registration, or "" if it has claimed no block yet.
func (p *Process) Key() MemberKey {
	if p.Block == "" {
		return ""
	}
	return MemberKey(livingKey(p.Block, p.Member))
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
