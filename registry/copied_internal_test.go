package registry

import (
	"errors"
	"testing"
	"time"

	"github.com/oidkit/oid/store"
)

// Both copies of a process write until when they agreed. Each knows its own heartbeats:
// the earlier time counts, whichever writes last. There is nothing to say of a process
// whose record is pruned.
func TestEarliestCopyCounts(t *testing.T) {
	began := time.Now().UTC().Truncate(time.Second)
	for _, order := range [][2]time.Duration{{time.Second, 2 * time.Second}, {2 * time.Second, time.Second}, {time.Second, time.Second}} {
		r, p := registered(t)
		c := r.newRecorder(p)
		for _, agreed := range order {
			c.storedBeat.Time = began.Add(agreed)
			before, err := getDoc[living](t.Context(), r.store, livingRecords, string(p.Key()))
			if err == nil {
				err = c.recordCopy(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			// The other copy must not take the living record for one that it wrote.
			if after, err := getDoc[living](t.Context(), r.store, livingRecords, string(p.Key())); err != nil || after.write == before.write {
				t.Errorf("the living record is that of write %x still, %v", before.write, err)
			}
		}
		k := processKey(p.GPID, p.Block)
		doc, err := getDoc[record](t.Context(), r.store, processRecords, k)
		if want := began.Add(time.Second); err != nil || !doc.Copied.Equal(want) {
			t.Errorf("agreed until %v: the record says %v, %v, want %v", order, doc.Copied, err, want)
		}
		if err := r.store.Delete(t.Context(), processRecords, storeKey(k)); err != nil {
			t.Fatal(err)
		}
		if err := c.recordCopy(t.Context()); err != nil {
			t.Errorf("without a record: %v", err)
		}
		if _, err := r.store.Get(t.Context(), processRecords, storeKey(k)); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the record was deleted, and is there again: %v", err)
		}
	}
}
