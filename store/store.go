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

// Errors of package store and its engines. Test for them with [errors.Is]: a method returns an
// error that wraps one of these and adds the details. If the database itself fails, for
// example because the disk is full or the server is lost, the error wraps none of these.
var (
	// ErrNotFound means that no document has the key.
	ErrNotFound = errors.New("store: not found")

	// ErrDuplicate means that another document already has this _id.
	ErrDuplicate = errors.New("store: duplicate _id")

	// ErrConflict means that the document was written after the caller read it.
	ErrConflict = errors.New("store: conflict")

	// ErrMoved means that the file of a store was deleted, moved or replaced while the
	// store was open. Close the store and open it again. Only sqlitestore returns it.
	ErrMoved = errors.New("store: the file was deleted, moved or replaced; open the store again")

	// ErrClosed means that the store has been closed.
	ErrClosed = errors.New("store: closed")

	// ErrKey means that an _id is missing, is neither a number, a string nor an ObjectId,
	// or is a string that is too long for the engine. [ParseKey] also returns it.
	ErrKey = errors.New("store: invalid _id")

	// ErrDocument means that a document is not valid BSON, is too large or is nested
	// too deeply.
	ErrDocument = errors.New("store: invalid document")

	// ErrURL means that the URL of a store is wrong. The Open functions of pgstore and
	// mongostore return it.
	ErrURL = errors.New("store: invalid URL")

	// ErrForeign means that the database contains the tables of another program and no
	// store. The Open functions of sqlitestore and pgstore return it.
	ErrForeign = errors.New("store: database of another program")

	// ErrCollection means that the name of a collection is invalid, see
	// [CheckCollection].
	ErrCollection = errors.New("store: invalid collection name")
)

// MaxName is the maximum length of a collection's name, in bytes. MongoDB allows 255 bytes
// for the names of database and collection together, and at most 64 for the database.
const MaxName = 190

// Store keeps documents in collections, by _id. Any number of goroutines may share a
// Store. A collection is created with its first document and remains when its last document
// is deleted. Reading a collection that does not exist is no error: it is empty. Only
// the engines of this module implement Store, so methods may be added to it.
//
// A Store does not change or keep the byte slices that it is given. The documents that it
// returns belong to the caller: they share no memory with the Store or with each other.
//
// All methods return an error that wraps [ErrCollection] if the name of the collection is
// invalid, [ErrClosed] after Close, and [context.Cause] of ctx if ctx is done. If ctx ends
// during a write, the write may or may not have been done.
type Store interface {
	// Insert stores doc, which is any value that bson.Marshal accepts, and returns
	// its key. A document without an _id gets an ObjectId. The error wraps ErrDuplicate
	// if another document has the key, ErrKey if the document has an _id that cannot be a
	// key, such as null, and ErrDocument if the document is invalid, too large or nested
	// too deeply.
	Insert(ctx context.Context, collection string, doc any) (Key, error)

	// InsertMany stores many documents, much faster than one call of Insert for each.
	// It returns one key per document, in the order of docs.
	//
	// If Insert would refuse some of the documents, InsertMany refuses these and stores
	// the others, unless o.Ordered is set. The error is then a *BulkError that lists the
	// refused documents. After any other error, such as a full disk or a lost server, the
	// remaining documents are not stored. After any error, the key of a document is zero
	// unless the document is known to be stored. A nil o means the zero InsertOptions.
	InsertMany(ctx context.Context, collection string, docs []any, o *InsertOptions) ([]Key, error)

	// Replace replaces the document that has the same _id as doc, atomically: a reader
	// sees either the old document or the new one. The error wraps ErrNotFound if no
	// document has the _id, ErrKey if doc has no valid _id, and ErrDocument if doc is
	// invalid, too large or nested too deeply.
	Replace(ctx context.Context, collection string, doc any) error

	// Swap replaces the document old by new, atomically, unless the stored document has
	// changed since old was read. old is the whole document, byte for byte as Get, Find
	// or Swap returned it. new is any value that bson.Marshal accepts, with the _id of
	// old.
	//
	// Swap returns new as it is stored, with a new revision; the package comment
	// describes revisions. The error wraps ErrConflict if the stored document has
	// changed, ErrNotFound if it was deleted, and ErrKey if the _id of new is missing or is
	// not that of old. It wraps ErrDocument if old or new is invalid, too large, nested too
	// deeply, or has a field _rev that is not an ObjectId.
	Swap(ctx context.Context, collection string, old bson.Raw, new any) (bson.Raw, error)

	// SwapMany does many swaps and conditional deletes, much faster than one call of
	// Swap for each. It does them in the order of their keys, and each independently of
	// the others. SwapMany returns one document per swap, in the order of swaps: the new
	// document as it is stored, or, for a swap that deletes, Swap.Old.
	//
	// If Swap would refuse some of the swaps, SwapMany refuses these and does the others.
	// The error is then a *BulkError that lists the refused swaps. Two swaps of one call
	// cannot have the same key: the later one is refused with ErrConflict. After any other
	// error, the remaining swaps are not done. After any error, the result of a swap is nil
	// unless the swap is known to be done.
	SwapMany(ctx context.Context, collection string, swaps []Swap) ([]bson.Raw, error)

	// Get returns the document with the key. The error wraps ErrNotFound if there is
	// none.
	Get(ctx context.Context, collection string, key Key) (bson.Raw, error)

	// GetMany returns one document per key, in the order of keys, and nil for each key
	// that no document has. It is much faster than one call of Get for each key.
	GetMany(ctx context.Context, collection string, keys []Key) ([]bson.Raw, error)

	// Find returns the documents that q selects, in the order of their keys. It reads
	// them while the caller iterates, and holds only a few megabytes of the result in
	// memory at a time (up to 16 MiB in mongostore). If Find fails, the sequence ends with
	// a nil document and the error. To continue later, call Find again with the key of the
	// last document as q.After.
	//
	// The body of the loop may call any method of the Store. It may, for example, delete
	// each document that the loop reaches.
	Find(ctx context.Context, collection string, q Query) iter.Seq2[bson.Raw, error]

	// FindMany returns, for each range, the documents with a key in that range,
	// smallest key first. If limit is above 0, it returns at most limit documents of each
	// range. If the store is on a server, FindMany is much faster than one call of Find
	// for each range. It holds all documents in memory, so use it for ranges with few
	// documents.
	FindMany(ctx context.Context, collection string, ranges []Range, limit int) ([][]bson.Raw, error)

	// Count returns the number of documents with a key in r.
	Count(ctx context.Context, collection string, r Range) (int64, error)

	// Delete deletes the document with the key. The error wraps ErrNotFound if there is
	// none.
	Delete(ctx context.Context, collection string, key Key) error

	// DeleteRange deletes all documents with a key in r and returns their number. The
	// zero Range deletes all documents of the collection. After an error, some of the
	// documents may have been deleted; the number is then a lower bound.
	DeleteRange(ctx context.Context, collection string, r Range) (int64, error)

	// Collections returns the names of all collections, including empty ones, sorted
	// byte by byte.
	Collections(ctx context.Context) ([]string, error)

	// Close closes the store and its connections or file. Closing a closed store does
	// nothing and returns nil.
	Close() error
}

// InsertOptions are the options of [Store.InsertMany]. A nil pointer means the zero value.
type InsertOptions struct {
	// Ordered makes InsertMany stop at the first refused document: the documents after
	// it are not stored.
	Ordered bool

	// Generator generates the ids of documents without an _id. If it is nil,
	// [objectid.New] generates them.
	Generator *objectid.Generator
}

// Swap is one change of [Store.SwapMany]: it replaces the document Old by New. New is any
// value that bson.Marshal accepts. If New is nil, Old is deleted.
type Swap struct {
	Old bson.Raw
	New any
}

// CheckCollection checks the name of a collection by MongoDB's rules, which hold for all
// engines: a name is not empty, is UTF-8, has at most [MaxName] bytes, contains no NUL and no
// $, does not begin or end with a dot, does not contain two dots in a row, and does not
// begin with "system.". The error for any other name wraps [ErrCollection].
func CheckCollection(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrCollection)
	case len(name) > MaxName:
		return fmt.Errorf("%w: it has %d bytes, want at most %d", ErrCollection, len(name), MaxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: %q is not UTF-8", ErrCollection, name)
	case strings.ContainsAny(name, "\x00$"):
		return fmt.Errorf("%w: %q contains NUL or $", ErrCollection, name)
	case name[0] == '.' || name[len(name)-1] == '.' || strings.Contains(name, ".."):
		return fmt.Errorf("%w: %q begins or ends with a dot or contains two dots in a row", ErrCollection, name)
	case strings.HasPrefix(name, "system."):
		return fmt.Errorf("%w: %q begins with \"system.\", which is reserved for MongoDB", ErrCollection, name)
	}
	return nil
}

// BulkError is the error of [Store.InsertMany] or [Store.SwapMany] if documents or swaps were
// refused and nothing else failed: all other documents are stored, and all other swaps are
// done. The exception is an ordered InsertMany, which stops at the first refused document. A
// BulkError wraps the error of each refused item: errors.Is(err, ErrDuplicate), for example,
// reports whether any of them was a duplicate.
type BulkError struct {
	// Refused lists the refused documents or swaps, sorted by Index.
	Refused []RefusedItem
}

// RefusedItem is a document that [Store.InsertMany] did not store, or a swap that
// [Store.SwapMany] did not do.
type RefusedItem struct {
	Index int   // index in the slice that was passed to the method
	Err   error // why the item was refused; never nil
}

// Error returns the number of refused items, and the index and error of the first.
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

// Unwrap returns the errors of the refused items.
func (e *BulkError) Unwrap() []error {
	return each.Of(e.Refused, func(r RefusedItem) error { return r.Err })
}

// Range is a range of keys. It contains From and does not contain To. If From or To is the
// zero Key, the range has no lower or no upper bound, so the zero Range contains every
// key. If To is set and is not greater than From, the range is empty.
type Range struct{ From, To Key }

// IDRange returns the range of keys that contains the ObjectIds in r. It contains no
// numbers and no strings, even if r has no lower bound.
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

// IsEmpty reports whether r contains no key.
func (r Range) IsEmpty() bool { return !r.To.IsZero() && r.From.Compare(r.To) >= 0 }

// Query selects the documents that [Store.Find] returns. The zero Query selects
// all documents of the collection, smallest key first.
type Query struct {
	// Range contains the keys of the documents to return.
	Range

	// After continues an earlier query. If it is not zero, Find returns only documents
	// that come after this key in the order of the query. No document needs to have
	// the key.
	After Key

	// Descending sorts the documents by descending key: the greatest key comes first.
	Descending bool

	// Limit is the maximum number of documents to return. 0 or less means no limit.
	Limit int
}

// Limits of a document, the same as in MongoDB. A document without a revision may have at
// most MaxSize - [RevisionSize] bytes, so that its first [Store.Swap] can add a revision.
const (
	MaxSize  = 16 << 20 // bytes
	MaxDepth = 100      // levels of nested documents and arrays; the document itself is level 1
)

const (
	// Revision is the name of the field that holds the revision of a document. The
	// package comment describes revisions.
	Revision = "_rev"

	// RevisionSize is the size of that field in BSON, in bytes: its type, its name with a zero
	// byte, and an ObjectId.
	RevisionSize = 1 + len(Revision) + 1 + objectid.Size
)

// KeyOf returns the key of a document. The error wraps [ErrKey] if doc has no _id, or if its
// _id cannot be a key, such as a null, a document, a decimal or a date. No engine stores
// such documents, but other programs may.
func KeyOf(doc bson.Raw) (Key, error) {
	v, err := doc.LookupErr("_id")
	if err != nil {
		return Key{}, fmt.Errorf("%w: the document has no _id", ErrKey)
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
		return Key{}, fmt.Errorf("%w: it is null; leave it out to get an ObjectId", ErrKey)
	default:
		return Key{}, fmt.Errorf("%w: BSON type %v, want a number, a string or an ObjectId", ErrKey, t)
	}
}
