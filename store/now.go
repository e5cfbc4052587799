package store

import (
	"context"
	"time"
)

// Now returns the time by the clock of the server of s, so that programs on several
// machines agree on it, or by the clock of this machine if s has no server.
func Now(ctx context.Context, s Store) (time.Time, error) {
	switch s := s.(type) {
	case generating:
		return Now(ctx, s.Store)
	case interface {
		Now(ctx context.Context) (time.Time, error)
	}:
		return s.Now(ctx)
	}
	return time.Now(), nil
}
