package storetest

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// ordered returns keys of all kinds, sorted.
func ordered() []store.Key {
	early, late := objectid.MustParse("4e7020cb7cac81af7136236b"), objectid.MustParse("ffffffffffffffffffffffff")
	return []store.Key{
		float(-math.MaxFloat64), float(-1 << 63), store.IntKey(math.MinInt64 + 1), store.IntKey(-1),
		float(-0.5), store.IntKey(0), float(math.SmallestNonzeroFloat64), float(0.5), store.IntKey(1), float(1.5), store.IntKey(2),
		store.IntKey(1 << 53), store.IntKey(1<<53 + 1), store.IntKey(math.MaxInt64), float(1 << 63), float(math.MaxFloat64),
		text(""), text("1"), text("A"), text("a"), text("a\x00"), text("a\x00b"), text("a\x01"), text("aa"), text("b"), text("ä"), text("\U0001F600"),
		store.IDKey(objectid.ID{}), store.IDKey(early), store.IDKey(objectid.ID{0: 0x80}), store.IDKey(late),
	}
}

func testKeyOrder(t testing.TB, s store.Store) {
	want := ordered()
	for i, a := range want {
		for j, b := range want {
			if got := a.Compare(b); got != compareInts(i, j) {
				t.Errorf("%v.Compare(%v) = %d, want %d", a, b, got, compareInts(i, j))
			}
		}
	}
	insert(t, s, "c", reversed(want)...)
	if got := find(t, s, "c", store.Query{}); !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if got := find(t, s, "c", store.Query{Descending: true}); !slices.Equal(got, reversed(want)) {
		t.Errorf("found in descending order %v, want %v", got, reversed(want))
	}
	for _, key := range want {
		doc := testenv.Must(s.Get(t.Context(), "c", key))(t)
		if got, err := store.KeyOf(doc); got != key || err != nil {
			t.Errorf("Get(%v) returned the document of %v, %v", key, got, err)
		}
	}
}

func compareInts(a, b int) int { return min(max(a-b, -1), 1) }

func reversed(keys []store.Key) []store.Key {
	keys = slices.Clone(keys)
	slices.Reverse(keys)
	return keys
}

func testNumbersAreEqualByValue(t testing.TB, s store.Store) {
	for _, id := range []any{int32(1), 2.0, int64(3)} {
		testenv.Must(s.Insert(t.Context(), "c", bson.D{{Key: "_id", Value: id}}))(t)
	}
	for _, id := range []any{1.0, int64(1), int32(2), 3.0} {
		if _, err := s.Insert(t.Context(), "c", bson.D{{Key: "_id", Value: id}}); !errors.Is(err, store.ErrDuplicate) {
			t.Errorf("Insert of %T %v: %v, want ErrDuplicate", id, id, err)
		}
	}
	for n := range int64(3) {
		testenv.Must(s.Get(t.Context(), "c", store.IntKey(n+1)))(t)
	}
}

// testFind tests Find and Count with every range between two of several bounds, in both orders.
func testFind(t testing.TB, s store.Store) {
	keys := ordered()
	insert(t, s, "c", keys...)
	bounds := []store.Key{{}, keys[0], keys[5], store.IntKey(3), keys[15], keys[16], text("Z"), keys[25], store.IDKey(objectid.ID{}), keys[28], keys[30]}
	for _, from := range bounds {
		for _, to := range bounds {
			r := store.Range{From: from, To: to}
			var want []store.Key
			for _, key := range keys {
				if r.Contains(key) {
					want = append(want, key)
				}
			}
			check := func(q store.Query, want []store.Key) {
				t.Helper()
				if got := find(t, s, "c", q); !slices.Equal(got, want) {
					t.Errorf("Find %+v = %v, want %v", q, got, want)
				}
			}
			check(store.Query{Range: r}, want)
			check(store.Query{Range: r, Descending: true}, reversed(want))
			check(store.Query{Range: r, Limit: 2}, want[:min(2, len(want))])
			check(store.Query{Range: r, Descending: true, Limit: 2}, reversed(want)[:min(2, len(want))])
			if len(want) > 2 {
				check(store.Query{Range: r, After: want[0], Limit: 1}, want[1:2])
				check(store.Query{Range: r, After: want[2]}, want[3:])
				check(store.Query{Range: r, After: want[2], Descending: true}, reversed(want[:2]))
			}
			if n := testenv.Must(s.Count(t.Context(), "c", r))(t); n != int64(len(want)) {
				t.Errorf("Count(%v) = %d, want %d", r, n, len(want))
			}
			if r.IsEmpty() && want != nil {
				t.Errorf("%v.IsEmpty, but it holds %v", r, want)
			}
		}
	}
}

// testFindOfMany reads more documents, of different sizes, than an engine reads at once.
func testFindOfMany(t testing.TB, s store.Store) {
	const n = 5001
	want := numbers(n)
	docs := repeat(n, func(i int) any { return bson.D{{Key: "_id", Value: int32(i)}, {Key: "b", Value: make([]byte, i%1000)}} })
	testenv.Must(s.InsertMany(t.Context(), "c", docs, nil))(t)
	if got := find(t, s, "c", store.Query{}); !slices.Equal(got, want) {
		t.Errorf("found %d documents, or in another order, want %d", len(got), n)
	}
	if got := find(t, s, "c", store.Query{Limit: 4001}); !slices.Equal(got, want[:4001]) {
		t.Errorf("found %d documents, or others, want the first 4001", len(got))
	}
	if got := find(t, s, "c", store.Query{Descending: true, Limit: 4000}); !slices.Equal(got, reversed(want)[:4000]) {
		t.Errorf("found %d documents, or others, want the last 4000", len(got))
	}
	var paged []store.Key
	for q := (store.Query{Limit: 700}); ; q.After = paged[len(paged)-1] {
		page := find(t, s, "c", q)
		if paged = append(paged, page...); len(page) < q.Limit || len(paged) > n {
			break
		}
	}
	if !slices.Equal(paged, want) {
		t.Errorf("found %d documents page by page, or in another order, want %d", len(paged), n)
	}
}

// testFindInsideFind calls methods of the store inside the loop of Find, and changes the
// documents that Find has returned.
func testFindInsideFind(t testing.TB, s store.Store) {
	const n = 3000
	keys := numbers(n)
	insert(t, s, "c", keys...)
	seen := 0
	for doc, err := range s.Find(t.Context(), "c", store.Query{}) {
		testenv.NoError(t, err)
		key := testenv.Must(store.KeyOf(doc))(t)
		if key != keys[seen] {
			t.Fatalf("document %d has key %v", seen, key)
		}
		seen++
		clear(doc)
		if seen%100 == 0 {
			testenv.NoError(t, s.Delete(t.Context(), "c", key))
			testenv.Must(s.Insert(t.Context(), "other", bson.D{}))(t)
			if got := find(t, s, "c", store.Query{After: key, Limit: 1}); seen < n && (len(got) != 1 || got[0] != keys[seen]) {
				t.Fatalf("the one after %v is %v", key, got)
			}
		}
	}
	if seen != n {
		t.Errorf("found %d documents, want %d", seen, n)
	}
	wantCount(t, s, "c", n-n/100)
	for range s.Find(t.Context(), "c", store.Query{}) {
		break // a caller that leaves must leave nothing locked
	}
	testenv.Must(s.Insert(t.Context(), "c", bson.D{}))(t)
}

func testFindByTime(t testing.TB, s store.Store) {
	start := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	now := start
	g := testenv.Must(objectid.NewGenerator(&objectid.Options{Now: func() time.Time { return now }}))(t)
	var keys []store.Key
	for range 100 {
		keys = append(keys, store.IDKey(g.New()))
		now = now.Add(time.Second)
	}
	insert(t, s, "c", keys...)
	insert(t, s, "c", store.IntKey(1), text("x"))
	for _, test := range []struct {
		r        objectid.Range
		from, to int
	}{
		{objectid.Range{}, 0, 100},
		{objectid.Since(start.Add(90 * time.Second)), 90, 100},
		{objectid.Until(start.Add(10 * time.Second)), 0, 10},
		{objectid.Between(start.Add(20*time.Second), start.Add(30*time.Second)), 20, 30},
		{objectid.Between(start.Add(-time.Hour), start), 0, 0},
		{objectid.Between(start, start), 0, 0},
	} {
		q := store.Query{Range: store.IDRange(test.r)}
		if got := find(t, s, "c", q); !slices.Equal(got, keys[test.from:test.to]) {
			t.Errorf("Find(%v) = %v, want %v", test.r, got, keys[test.from:test.to])
		}
	}
}

func testDelete(t testing.TB, s store.Store) {
	keys := ordered()
	insert(t, s, "c", keys...)
	for i, key := range keys {
		if i%2 == 1 {
			if err := s.Delete(t.Context(), "c", key); err != nil {
				t.Errorf("Delete(%v): %v", key, err)
			}
		}
	}
	for i, key := range keys {
		if err := s.Delete(t.Context(), "c", key); errors.Is(err, store.ErrNotFound) != (i%2 == 1) {
			t.Errorf("Delete(%v) the second time: %v", key, err)
		}
	}
	testenv.WantError(t, "Delete of the zero key", s.Delete(t.Context(), "c", store.Key{}), store.ErrNotFound)
	if keys := find(t, s, "c", store.Query{}); keys != nil {
		t.Errorf("left: %v", keys)
	}
}

func testDeleteRange(t testing.TB, s store.Store) {
	const n = 12_000
	keys := numbers(n)
	insert(t, s, "c", append(keys, text("a"), text("b"))...)
	for _, test := range []struct {
		r    store.Range
		want int64
	}{
		{store.Range{From: store.IntKey(5), To: store.IntKey(5)}, 0},
		{store.Range{From: store.IntKey(9), To: store.IntKey(3)}, 0},
		{store.Range{From: store.IntKey(10), To: store.IntKey(20)}, 10},
		{store.Range{From: store.IntKey(10), To: store.IntKey(20)}, 0},
		{store.Range{From: store.IntKey(500), To: text("b")}, n - 500 + 1},
		{store.Range{}, 491},
	} {
		got, err := s.DeleteRange(t.Context(), "c", test.r)
		if got != test.want || err != nil {
			t.Errorf("DeleteRange(%v) = %d, %v, want %d", test.r, got, err, test.want)
		}
	}
}

// testEmptiedCollection: a collection exists from its first document on, also after all its
// documents were deleted.
func testEmptiedCollection(t testing.TB, s store.Store) {
	ctx, key := t.Context(), store.IntKey(1)
	var want []string
	for name, empty := range map[string]func(name string) error{
		"Delete":      func(name string) error { return s.Delete(ctx, name, key) },
		"DeleteRange": func(name string) error { _, err := s.DeleteRange(ctx, name, store.Range{}); return err },
		"SwapMany": func(name string) error {
			_, err := s.SwapMany(ctx, name, []store.Swap{{Old: get(t, s, name, key)}})
			return err
		},
	} {
		insert(t, s, name, key)
		want = append(want, name)
		slices.Sort(want)
		if err := empty(name); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if names := testenv.Must(s.Collections(ctx))(t); !slices.Equal(names, want) {
			t.Errorf("collections %q after %s has deleted the last document, want %q", names, name, want)
		}
	}
}
