package store

import (
	"context"
	"time"
)

// Now returns the time by the clock of the server of s, so that programs on several
// machines agree on it, or by the clock of this machine if s has no server.
func Now(ctx context.Context, s Store) (time.Time, error) {
	if s, ok := s.(interface {
		Now(ctx context.Context) (time.Time, error)
	}); ok {
		return s.Now(ctx)
	}
	return time.Now(), nil
}
