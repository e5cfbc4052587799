package registry

import (
	"context"
	"errors"
	"time"

	"github.com/oidkit/oid/store"
)

// marks is the document that says how far a registry is in order.
type marks struct {
	Key    string `bson:"_id"`
	Format int    `bson:"v"`
	// Samples is a time: processes that ended before it have no samples.
	Samples time.Time `bson:"samples,omitempty"`
}

const marksKey = "registry"

// readMarks returns the marks: zero ones of a registry that was never in order.
func (r *Registry) readMarks(ctx context.Context) (marks, error) {
	m, err := get[marks](ctx, r.store, about, marksKey)
	if errors.Is(err, store.ErrNotFound) {
		return marks{}, nil
	}
	return m, err
}

// markSamples stores that processes which ended before a time have no samples. That a
// later time is overwritten, which another process has stored, only makes the next
// [Registry.Prune] look again.
func (r *Registry) markSamples(ctx context.Context, before time.Time) error {
	m := marks{Key: marksKey, Format: format, Samples: before}
	_, err := r.store.Insert(ctx, about, m)
	if errors.Is(err, store.ErrDuplicate) {
		err = r.store.Replace(ctx, about, m)
	}
	return err
}
