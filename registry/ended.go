package registry

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// endedDoc says by its key alone when a process ended, see endedKey. It may remain
// when the process turns out to be alive: the record decides.
type endedDoc struct {
	Key    string `bson:"_id"`
	Format int    `bson:"v"`
}

// endedKey is the key by which an ended process is found by the time of its last
// heartbeat, which is also that of its end.
func endedKey(last time.Time, process string) string { return millis(last) + ":" + process }

// splitEnded returns the parts of an endedKey.
func splitEnded(key string) (last time.Time, process string, err error) {
	digits, process, ok := strings.Cut(key, ":")
	ms, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !ok {
		return last, "", fmt.Errorf("registry: key %q of %s, want milliseconds:process", key, ended)
	}
	return time.UnixMilli(ms).UTC(), process, nil
}

// finish moves a process that has ended, or crashed, from the living to the ended: it
// stores its samples, completes its record and deletes its living record l, which is
// stored as raw under key. If another heartbeat comes in between, the process stays
// among the living. It may be called again after an error.
func (r *Registry) finish(ctx context.Context, raw bson.Raw, l *living, key string) error {
	block := key[:8]
	if err := r.storeSamples(ctx, block, l.recent[len(l.recent)-l.unstored:]); err != nil {
		return err
	}
	k := processKey(l.gpid, block)
	p, err := r.complete(ctx, l, k)
	if err == nil {
		_, err = r.store.Insert(ctx, ended, endedDoc{endedKey(p.Last.Time, k), format})
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrDuplicate) {
		return fmt.Errorf("registry: complete record of %v: %w", l.gpid, err)
	}
	err = r.store.DeleteIf(ctx, livingRecords, raw)
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("registry: delete living record of %v: %w", l.gpid, err)
	}
	return nil
}

// complete writes what a living record says into the record with the key k. The error
// wraps [store.ErrNotFound] if the process was never recorded, or is pruned.
func (r *Registry) complete(ctx context.Context, l *living, k string) (*Process, error) {
	for {
		raw, err := r.store.Get(ctx, processes, key(k))
		if err != nil {
			return nil, err
		}
		doc, err := decode[record](raw, processes)
		if err != nil {
			return nil, err
		}
		l.over(&doc.Process)
		doc.Format, doc.Final = format, true
		if _, err = r.store.Swap(ctx, processes, raw, doc); !errors.Is(err, store.ErrConflict) {
			return &doc.Process, err
		}
	}
}

// unfinish removes a process that has turned out to be alive from the ended ones.
func (r *Registry) unfinish(ctx context.Context, doc *record) error {
	err := r.store.Delete(ctx, ended, key(endedKey(doc.Last.Time, doc.Key)))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
