package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// slowStore is a store whose first write waits until it is let go. Writes of several
// documents refuse the second one.
type slowStore struct {
	store.Store
	first sync.Once
	let   chan struct{}
	calls []string
	ended error // of a call that waits for the end of its context
}

func (s *slowStore) wait() { s.first.Do(func() { <-s.let }) }

func (s *slowStore) InsertMany(ctx context.Context, _ string, docs []any, _ *store.InsertOptions) ([]store.Key, error) {
	s.wait()
	if docs[0] == "hangs" {
		<-ctx.Done()
		s.ended = ctx.Err()
		return nil, ctx.Err()
	}
	s.calls = append(s.calls, fmt.Sprint(docs...))
	if len(docs) == 1 {
		return []store.Key{storeKey("alone")}, nil
	}
	return []store.Key{storeKey("a"), {}, storeKey("c")}, &store.BulkError{Refused: []store.RefusedItem{{Index: 1, Err: store.ErrDuplicate}}}
}

func (s *slowStore) SwapMany(_ context.Context, _ string, swaps []store.Swap) ([]bson.Raw, error) {
	s.wait()
	s.calls = append(s.calls, fmt.Sprint(len(swaps)))
	if len(swaps) == 1 {
		return []bson.Raw{bson.Raw("alone")}, nil
	}
	return []bson.Raw{bson.Raw("A"), nil, bson.Raw("C")}, &store.BulkError{Refused: []store.RefusedItem{{Index: 1, Err: store.ErrConflict}}}
}

// Writes that come while another one is under way are one call, and each gets its own
// key or document and its own error.
func TestWritesTogetherHaveTheirOwnResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, insert := range []bool{true, false} {
			s := &slowStore{let: make(chan struct{})}
			b := newBatches(s)
			write := func(i int) (string, error) {
				if insert {
					k, err := b.Insert(t.Context(), "c", fmt.Sprint("doc", i))
					return strings.Trim(k.String(), `"`), err
				}
				raw, err := b.Swap(t.Context(), "c", bson.Raw("old"), "new")
				return string(raw), err
			}
			var got [4]string
			var errs [4]error
			var done sync.WaitGroup
			for i := range got {
				done.Go(func() { got[i], errs[i] = write(i) })
				synctest.Wait()
			}
			close(s.let)
			done.Wait()
			want, refusal := [4]string{"alone", "A", "", "C"}, store.ErrConflict
			if insert {
				want, refusal = [4]string{"alone", "a", "", "c"}, store.ErrDuplicate
			}
			if got != want || errs[0] != nil || errs[1] != nil || !errors.Is(errs[2], refusal) || errs[3] != nil {
				t.Errorf("insert %v: %q, %v, want %q and the third refused", insert, got, errs, want)
			}
			if len(s.calls) != 2 {
				t.Errorf("insert %v: calls %q, want one of the first and one of the others", insert, s.calls)
			}
		}
	})
}

// A call for several writes goes on while one of their callers waits, and ends with the
// last one.
func TestWritesTogetherEndWithTheLastCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowStore{let: make(chan struct{})}
		b := newBatches(s)
		var done sync.WaitGroup
		done.Go(func() { _, _ = b.Insert(t.Context(), "c", "first") })
		synctest.Wait()
		var cancels []context.CancelFunc
		var errs [2]error
		for i := range errs {
			ctx, cancel := context.WithCancel(t.Context())
			cancels = append(cancels, cancel)
			done.Go(func() { _, errs[i] = b.Insert(ctx, "c", "hangs") })
			synctest.Wait()
		}
		close(s.let)
		synctest.Wait()
		cancels[0]()
		synctest.Wait()
		if s.ended != nil || !errors.Is(errs[0], context.Canceled) || errs[1] != nil {
			t.Errorf("one of two callers has gone: call %v, callers %v", s.ended, errs)
		}
		cancels[1]()
		synctest.Wait()
		if !errors.Is(s.ended, context.Canceled) || !errors.Is(errs[1], context.Canceled) {
			t.Errorf("both callers have gone: call %v, callers %v", s.ended, errs)
		}
		done.Wait()
	})
}
