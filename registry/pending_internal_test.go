package registry

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// away is a store that cannot be reached.
type away struct{ store.Store }

var errAway = errors.New("away")

func (away) InsertMany(context.Context, string, []any, *store.InsertOptions) ([]store.Key, error) {
	return nil, errAway
}

func (away) Get(context.Context, string, store.Key) (bson.Raw, error) { return nil, errAway }

func (away) Find(context.Context, string, store.Query) iter.Seq2[bson.Raw, error] {
	return func(yield func(bson.Raw, error) bool) { yield(nil, errAway) }
}

// A member that cannot reach the store keeps the samples of the latest hour, and
// no more however long it lasts. It logs that once.
func TestSamplesOfAnHourAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		m, err := New(away{}, &Options{Log: slog.New(slog.NewTextHandler(&log, nil))}).Register(t.Context(), &RegisterOptions{Offline: true})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3*time.Hour + time.Second)
		synctest.Wait()
		m.working.Lock()
		kept := append([]Sample(nil), m.recorder.unstored...)
		m.working.Unlock()
		if span := kept[len(kept)-1].Time.Sub(kept[0].Time); len(kept) != 360 || span < time.Hour-10*time.Second {
			t.Errorf("%d samples of %v are kept, want 360 of an hour", len(kept), span)
		}
		if last := m.Process().Last; !kept[len(kept)-1].Time.Equal(last.Time) || last.Count < 3*360 {
			t.Errorf("the last one kept is of %v, the last heartbeat, number %d, of %v", kept[len(kept)-1].Time, last.Count, last.Time)
		}
		if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "away") {
			t.Errorf("logged %d times: %s", n, log.String())
		}
		if err := m.End(t.Context(), "done"); !errors.Is(err, errAway) {
			t.Errorf("End: %v, want the store's error", err)
		}
	})
}
