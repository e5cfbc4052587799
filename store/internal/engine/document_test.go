package engine_test

import (
	"bytes"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/engine"
)

func TestInsertion(t *testing.T) {
	g, err := objectid.NewGenerator(&objectid.Options{Block: &[4]byte{1, 2, 3, 4}})
	if err != nil {
		t.Fatal(err)
	}
	key, raw, err := engine.Insertion(bson.D{{Key: "a", Value: "b"}}, g)
	id, ok := key.ID()
	want, _ := bson.Marshal(bson.D{{Key: "_id", Value: id}, {Key: "a", Value: "b"}})
	if err != nil || !ok || [4]byte(id[4:8]) != [4]byte{1, 2, 3, 4} || !bytes.Equal(raw, want) {
		t.Errorf("Insertion = %v, %v, %v, want %v", key, raw, err, bson.Raw(want))
	}
	if _, _, err := engine.Replacement(bson.D{{Key: "a", Value: "b"}}); !errors.Is(err, store.ErrKey) {
		t.Errorf("InsertionReplacement without _id: %v, want ErrKey", err)
	}
	// A document that needs no change must not be copied.
	if n := testing.AllocsPerRun(100, func() { _, _, _ = engine.Insertion(bson.Raw(want), nil) }); n > 1 {
		t.Errorf("Insertion of checked bytes allocates %v times, want 1 at most", n)
	}
}

// FuzzInsertion passes arbitrary bytes to Insertion. If they are accepted, the result must be
// valid for the BSON library, and a second call must not change it.
func FuzzInsertion(f *testing.F) {
	for _, doc := range testenv.Documents(false) {
		if len(doc) < 1000 {
			f.Add([]byte(doc))
		}
	}
	f.Add([]byte{5, 0, 0, 0, 0})
	f.Add(bytes.Repeat([]byte{0xFF, 0, 0, 0, 3, 'd', 0}, 200))
	f.Fuzz(func(t *testing.T, data []byte) {
		key, doc, err := engine.Insertion(bson.Raw(data), nil)
		if err != nil {
			if !errors.Is(err, store.ErrDocument) && !errors.Is(err, store.ErrKey) {
				t.Errorf("error %v wraps neither ErrDocument nor ErrKey", err)
			}
			return
		}
		if err := bson.Raw(data).Validate(); err != nil {
			t.Errorf("accepted %x, of which the BSON library says: %v", data, err)
		}
		again, same, err := engine.Insertion(doc, nil)
		if again != key || !bytes.Equal(same, doc) || err != nil {
			t.Errorf("prepared again: %v, %v, %v, want %v, %v", again, same, err, key, doc)
		}
		if first, err := doc.IndexErr(0); err != nil || first.Key() != "_id" {
			t.Errorf("first field of %v is not its _id", doc)
		}
		if got, err := store.KeyOf(doc); got != key || err != nil {
			t.Errorf("KeyOf(%v) = %v, %v, want %v", doc, got, err, key)
		}
	})
}

// Insertion must accept everything that the BSON library writes.
func TestInsertionAcceptsAllOfBSON(t *testing.T) {
	for _, doc := range testenv.Documents(false) {
		if _, got, err := engine.Insertion(doc, nil); err != nil || !bytes.Equal(got, doc) {
			t.Errorf("Insertion(%v) = %v, %v", doc, got, err)
		}
	}
}

func TestBulkErrorSaysWhatAndWhere(t *testing.T) {
	_, _, cause := engine.Insertion(bson.Raw("short"), nil)
	one := &store.BulkError{Refused: []store.RefusedItem{{Index: 3, Err: cause}}}
	if got, want := one.Error(), "document 3 refused: "+cause.Error(); got != want {
		t.Errorf("Error = %q, want %q", got, want)
	}
	two := &store.BulkError{Refused: append(one.Refused, store.RefusedItem{Index: 5, Err: store.ErrDuplicate})}
	if got, want := two.Error(), "2 documents refused, first document 3: "+cause.Error(); got != want {
		t.Errorf("Error = %q, want %q", got, want)
	}
	if !errors.Is(two, store.ErrDocument) || !errors.Is(two, store.ErrDuplicate) || errors.Is(two, store.ErrKey) {
		t.Errorf("%v does not wrap the errors of its documents alone", two)
	}
}
