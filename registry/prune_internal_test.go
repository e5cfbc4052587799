package registry

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// refusing is a store that refuses the second of all swaps.
type refusing struct {
	store.Store
	err error
}

func (r refusing) SwapMany(_ context.Context, _ string, swaps []store.Swap) ([]bson.Raw, error) {
	return make([]bson.Raw, len(swaps)), &store.BulkError{Refused: []store.RefusedItem{{Index: 1, Err: r.err}}}
}

// What others have written or deleted meanwhile is left as it is; another reason to refuse
// a swap is an error.
func TestSwapsThatAreRefused(t *testing.T) {
	full := errors.New("the disk is full")
	for err, want := range map[error]int{store.ErrConflict: 2, store.ErrNotFound: 2, full: 0} {
		n, got := swapAll(t.Context(), refusing{err: err}, processRecords, make([]store.Swap, 3))
		if n != want || (got != nil) != (want == 0) || got != nil && !errors.Is(got, full) {
			t.Errorf("%v: %d swaps, %v, want %d", err, n, got, want)
		}
	}
}
