package registry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

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

// readMarks returns the marks and the document they are in. A registry that was never
// in order has none: raw is nil then, and the marks are zero.
func (r *Registry) readMarks(ctx context.Context) (raw bson.Raw, m marks, err error) {
	raw, err = r.store.Get(ctx, about, key(marksKey))
	if err == nil {
		m, err = decode[marks](raw, about)
	}
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	if err != nil {
		return nil, m, fmt.Errorf("registry: read %s: %w", about, err)
	}
	return raw, m, nil
}

// markSamples stores that processes which ended before a time have no samples. old is
// what readMarks returned. If the marks were written in between, it does nothing:
// another process deletes samples, too.
func (r *Registry) markSamples(ctx context.Context, old bson.Raw, before time.Time) (err error) {
	m := marks{Key: marksKey, Format: format, Samples: before}
	if old == nil {
		_, err = r.store.Insert(ctx, about, m)
	} else {
		_, err = r.store.Swap(ctx, about, old, m)
	}
	if errors.Is(err, store.ErrDuplicate) || errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
