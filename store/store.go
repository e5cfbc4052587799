package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/objectid"
)

// Errors of all engines. A returned error wraps one of them where it applies and
// says more.
var (
	// ErrNotFound means that no document has the key.
	ErrNotFound = errors.New("store: not found")

	// ErrDuplicate means that a document with the same _id is already there.
	ErrDuplicate = errors.New("store: duplicate _id")

	// ErrConflict means that a document was written since it was read.
	ErrConflict = errors.New("store: conflict")

	// ErrMoved means that the file of a store is no longer at its path: open the
	// store again.
	ErrMoved = errors.New("store: the file was deleted, moved or replaced; open the store again")

	// ErrClosed means that the store has been closed.
	ErrClosed = errors.New("store: closed")

	// ErrKey means that an _id is neither a number, a string nor an ObjectId.
	ErrKey = errors.New("store: _id cannot be a key")

	// ErrDocument means that a document is not BSON, too large or too deep.
	ErrDocument = errors.New("store: invalid document")

	// ErrURL is wrapped by the errors of engines that say what is wrong with a URL.
	ErrURL = errors.New("store: invalid URL")

	// ErrCollection means that a text cannot be the name of a collection. MongoDB's
	// rules hold for all engines: a name is not empty, has no NUL and no $, does
	// not begin or end with a dot nor has two in a row, does not begin with
	// "system.", has at most [MaxName] bytes and is UTF-8.
	ErrCollection = errors.New("store: invalid collection name")
)

// MaxName is the greatest length of a collection's name in bytes. MongoDB allows
// 255 for the names of database and collection together; this leaves the longest
// name of a database its 64.
const MaxName = 190

// Store keeps documents in collections, by _id. Any number of goroutines may
// share one. The first document creates its collection, which remains when its last document is
// deleted; a collection that does not exist is empty. The interface may
// grow: only the engines implement it.
//
// A store neither changes nor keeps the bytes that it is given, and the documents that
// it returns are the caller's: they share no bytes with the store or with each other.
//
// All methods return an error that wraps [ErrCollection] for an invalid name,
// [ErrClosed] after Close, and the context's error when ctx ends. A write whose
// context ends meanwhile may have been done.
type Store interface {
	// Insert stores doc, which is anything that bson.Marshal takes, and returns
	// its key. A document without an _id gets an ObjectId; a null is not the
	// same as none. The errors wrap ErrDuplicate if the key is taken, ErrKey,
	// or ErrDocument.
	Insert(ctx context.Context, collection string, doc any) (Key, error)

	// InsertMany stores many documents at much less cost than one Insert for
	// each. It returns as many keys as there are documents. A document that
	// Insert would refuse is refused and the others are stored; the error is
	// then a *[BulkError] that lists the refused ones. Any other error, such
	// as a full disk or a server that has gone, leaves the rest undone. In both
	// cases the key of a document is zero unless the document is known to be
	// stored. A nil o means the zero InsertOptions.
	InsertMany(ctx context.Context, collection string, docs []any, o *InsertOptions) ([]Key, error)

	// Replace puts doc in the place of the document that has the same _id, in
	// one step: a reader sees the old one or the new one. The error wraps
	// ErrNotFound if there is none to replace, ErrKey if doc has no _id, or
	// ErrDocument.
	Replace(ctx context.Context, collection string, doc any) error

	// Swap puts new in the place of the document with the same _id if that is
	// still old, in one step. old is the whole document as Get, Find or Swap
	// returned it, byte for byte; new is anything that bson.Marshal takes,
	// with the _id of old. Swap returns new as it is stored: with a revision of
	// its own, see the package comment. The error wraps ErrConflict if the
	// document was written in between, ErrNotFound if it was deleted, ErrKey if
	// new has another _id or none, or ErrDocument.
	Swap(ctx context.Context, collection string, old bson.Raw, new any) (bson.Raw, error)

	// SwapMany does many swaps and conditional deletes at much less cost than
	// one call for each. Each is done or refused by itself, in the order of
	// their keys whatever the order given. The result has for each the document
	// as it is stored, or Old where that was deleted. What Swap would refuse is
	// refused and the others are done; the error is then a *[BulkError] that
	// lists the refused ones. A key may come once in a call: later swaps of it
	// are refused with ErrConflict. Any other error leaves the rest undone. In
	// both cases the result of a swap is nil unless it is known to be done.
	SwapMany(ctx context.Context, collection string, swaps []Swap) ([]bson.Raw, error)

	// Get returns the document with the key, or an error that wraps
	// ErrNotFound.
	Get(ctx context.Context, collection string, key Key) (bson.Raw, error)

	// GetMany returns for each key the document that has it, or nil, at much less
	// cost than one Get for each.
	GetMany(ctx context.Context, collection string, keys []Key) ([]bson.Raw, error)

	// Find returns the documents that q asks for, in the order of their keys. It
	// reads on as the caller does and holds little of the result: a few
	// megabytes, or what a MongoDB server sends at once, which is 16 MiB at most.
	// The first error ends the sequence; the document beside it is nil. To go on
	// later, ask again with the key of the last document as q.After.
	//
	// The caller may use the store inside the loop, also to delete what it was
	// given.
	Find(ctx context.Context, collection string, q Query) iter.Seq2[bson.Raw, error]

	// FindMany returns for each range the documents with a key in it, smallest key
	// first, at most limit of each if that is above 0, at much less cost than one
	// Find for each where the store is a server. It is for ranges that have few
	// documents: all are held in memory.
	FindMany(ctx context.Context, collection string, ranges []Range, limit int) ([][]bson.Raw, error)

	// Count returns how many documents have a key in r.
	Count(ctx context.Context, collection string, r Range) (int64, error)

	// Delete removes the document with the key. The error wraps ErrNotFound if
	// there is none.
	Delete(ctx context.Context, collection string, key Key) error

	// DeleteRange removes every document with a key in r and returns how many
	// it removed. On an error a part of them may have been removed; the number
	// is then what is known of it. The zero Range removes all.
	DeleteRange(ctx context.Context, collection string, r Range) (int64, error)

	// Collections returns the names of the collections, empty ones too, sorted byte
	// by byte.
	Collections(ctx context.Context) ([]string, error)

	// Close releases what the store holds. Closing again does nothing.
	Close() error
}

// InsertOptions tune [Store.InsertMany]. The zero value, like a nil pointer, is
// ready to use.
type InsertOptions struct {
	// Ordered stops at the first refused document: those after it are not
	// stored.
	Ordered bool

	// Generator generates the ids of documents that have none. If it is nil,
	// [objectid.New] does.
	Generator *objectid.Generator
}

// Swap is one of the changes of [Store.SwapMany]: New, anything that bson.Marshal
// takes, replaces Old. If New is nil, Old is deleted.
type Swap struct {
	Old bson.Raw
	New any
}

// CheckCollection returns an error that wraps [ErrCollection] if name
// cannot name a collection. It refuses what MongoDB refuses: an empty name, one
// with NUL or $, one that begins or ends with a dot or has two in a row, one that
// begins with "system.", one of more than [MaxName] bytes, and one that is
// not UTF-8.
func CheckCollection(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrCollection)
	case len(name) > MaxName:
		return fmt.Errorf("%w: %d bytes, want %d at most", ErrCollection, len(name), MaxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: %q is not UTF-8", ErrCollection, name)
	case strings.ContainsAny(name, "\x00$"):
		return fmt.Errorf("%w: %q contains NUL or $", ErrCollection, name)
	case name[0] == '.' || name[len(name)-1] == '.' || strings.Contains(name, ".."):
		return fmt.Errorf("%w: %q begins or ends with a dot or has two in a row", ErrCollection, name)
	case strings.HasPrefix(name, "system."):
		return fmt.Errorf("%w: %q, names that begin with system. belong to MongoDB", ErrCollection, name)
	}
	return nil
}

// BulkError is returned by [Store.InsertMany] and [Store.SwapMany] if some of
// what they were given was refused and the rest was done. It wraps the error of
// each refusal, so errors.Is(err, ErrDuplicate) reports whether one of them was a
// duplicate.
type BulkError struct {
	// Refused are the documents or swaps that were refused, in the order of
	// Index.
	Refused []RefusedItem
}

// RefusedItem is a document that was not inserted, or a swap that was not done.
type RefusedItem struct {
	Index int   // its place among those given
	Err   error // the reason; never nil
}

// Error returns how many were refused and why the first was.
func (e *BulkError) Error() string {
	if len(e.Refused) == 0 {
		return "store: no document refused"
	}
	first := e.Refused[0]
	if len(e.Refused) == 1 {
		return fmt.Sprintf("document %d refused: %v", first.Index, first.Err)
	}
	return fmt.Sprintf("%d documents refused, first document %d: %v", len(e.Refused), first.Index, first.Err)
}

// Unwrap returns the errors of the refusals.
func (e *BulkError) Unwrap() []error {
	return each.Of(e.Refused, func(r RefusedItem) error { return r.Err })
}

// Range is the keys from From, included, to To, not included. A zero From is no
// lower bound, and a zero To is no upper bound: the zero Range is every key. A
// range whose To is set and not greater than its From is empty.
type Range struct{ From, To Key }

// IDRange returns the range of the ObjectIds in r: numbers and strings are not part
// of it even if r has no lower bound.
func IDRange(r objectid.Range) Range {
	out := Range{From: IDKey(r.From)}
	if !r.To.IsZero() {
		out.To = IDKey(r.To)
	}
	return out
}

// Contains reports whether key is in r. The zero Key is in no range.
func (r Range) Contains(key Key) bool {
	return !key.IsZero() && key.Compare(r.From) >= 0 && (r.To.IsZero() || key.Compare(r.To) < 0)
}

// IsEmpty reports whether no key is in r.
func (r Range) IsEmpty() bool { return !r.To.IsZero() && r.From.Compare(r.To) >= 0 }

// Query selects the documents that [Store.Find] returns. The zero Query selects
// all, smallest key first.
type Query struct {
	// Range is the keys to return.
	Range

	// After, if not zero, is where to continue: only documents that come after
	// this key in the order of the query, whether or not a document has it.
	After Key

	// Descending asks for the greatest key first.
	Descending bool

	// Limit, if above 0, is the greatest number of documents to return.
	Limit int
}

// MongoDB's limits for one document. One without a revision has [RevisionSize] bytes
// less, so that it has room for the one of its first [Store.Swap].
const (
	MaxSize  = 16 << 20 // bytes
	MaxDepth = 100      // levels of documents and arrays, the document itself included
)

// Revision is the name of the field in which a store keeps the revision of a
// document, see the package comment, and RevisionSize is the size of that field: a byte
// for its type, its name with a zero byte, and the ObjectId.
const (
	Revision     = "_rev"
	RevisionSize = 1 + len(Revision) + 1 + objectid.Size // bytes
)

// KeyOf returns the key of a document. The error wraps [ErrKey] if doc has no
// _id or one that cannot be a key: a null, a document, a decimal, a date. Such
// documents come from elsewhere, since no engine stores one.
func KeyOf(doc bson.Raw) (Key, error) {
	v, err := doc.LookupErr("_id")
	if err != nil {
		return Key{}, fmt.Errorf("%w: there is none", ErrKey)
	}
	return keyOf(byte(v.Type), v.Value)
}

func keyOf(typ byte, data []byte) (Key, error) {
	switch t := bson.Type(typ); {
	case t == bson.TypeObjectID && len(data) == objectid.Size:
		return IDKey(objectid.ID(data)), nil
	case t == bson.TypeString && len(data) > 4:
		return StringKey(string(data[4 : len(data)-1]))
	case t == bson.TypeInt32 && len(data) == 4:
		return IntKey(int64(int32(binary.LittleEndian.Uint32(data)))), nil
	case t == bson.TypeInt64 && len(data) == 8:
		return IntKey(int64(binary.LittleEndian.Uint64(data))), nil
	case t == bson.TypeDouble && len(data) == 8:
		return FloatKey(math.Float64frombits(binary.LittleEndian.Uint64(data)))
	case t == bson.TypeNull:
		return Key{}, fmt.Errorf("%w: it is null; leave it out to have one generated", ErrKey)
	default:
		return Key{}, fmt.Errorf("%w: BSON type %v, want a number, a string or an ObjectId", ErrKey, t)
	}
}
