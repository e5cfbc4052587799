package objectid_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/oidkit/oid/objectid"
)

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestRanges(t *testing.T) {
	const first, last = "1970-01-01T00:00:00Z", "2106-02-07T06:28:15Z"
	for _, c := range []struct {
		name     string
		r        objectid.Range
		from, to string // - is no bound
	}{
		{"Since", objectid.Since(at("2026-11-20T12:00:00.9Z")), "2026-11-20T12:00:00Z", "-"},
		{"Since, whole second, other zone", objectid.Since(at("2026-11-20T14:00:00+02:00")), "2026-11-20T12:00:00Z", "-"},
		{"Since before 1970", objectid.Since(at("1960-01-01T00:00:00Z")), "-", "-"},
		{"Since the last second", objectid.Since(at(last)), last, "-"},
		{"Since after 2106", objectid.Since(at("2200-01-01T00:00:00Z")), last, "-"},
		{"Until", objectid.Until(at("2026-11-20T12:00:00.1Z")), "-", "2026-11-20T12:00:01Z"},
		{"Until, whole second", objectid.Until(at("2026-11-20T12:00:00Z")), "-", "2026-11-20T12:00:00Z"},
		{"Until 1970", objectid.Until(at(first)), "-", "1970-01-01T00:00:01Z"},
		{"Until before 1970", objectid.Until(at("1960-01-01T00:00:00Z")), "-", "1970-01-01T00:00:01Z"},
		{"Until the last second", objectid.Until(at(last)), "-", last},
		{"Until within the last second", objectid.Until(at("2106-02-07T06:28:15.5Z")), "-", "-"},
		{"Until after 2106", objectid.Until(at("2200-01-01T00:00:00Z")), "-", "-"},
		{"Between", objectid.Between(at("2026-11-20T12:00:00.9Z"), at("2026-11-20T12:00:01.1Z")), "2026-11-20T12:00:00Z", "2026-11-20T12:00:02Z"},
		{"Between within a second", objectid.Between(at("2026-11-20T12:00:00.2Z"), at("2026-11-20T12:00:00.3Z")), "2026-11-20T12:00:00Z", "2026-11-20T12:00:01Z"},
		{"Between before 1970", objectid.Between(at("1960-01-01T00:00:00Z"), at("1965-01-01T00:00:00Z")), "-", "1970-01-01T00:00:01Z"},
		{"Between after 2106", objectid.Between(at("2200-01-01T00:00:00Z"), at("2300-01-01T00:00:00Z")), last, "-"},
		{"Between over all", objectid.Between(at("1960-01-01T00:00:00Z"), at("2300-01-01T00:00:00Z")), "-", "-"},
	} {
		for _, end := range []struct {
			name string
			id   objectid.ID
			want string
		}{{"From", c.r.From, c.from}, {"To", c.r.To, c.to}} {
			want := objectid.ID{}
			if end.want != "-" {
				want = objectid.MinAt(at(end.want))
			}
			if end.id != want {
				t.Errorf("%s: %s = %v (%v), want %v (%s)", c.name, end.name, end.id, end.id.Time(), want, end.want)
			}
		}
		if c.r.IsEmpty() {
			t.Errorf("%s is empty", c.name)
		}
	}
}

func TestEmptyRanges(t *testing.T) {
	for _, c := range [][2]string{
		{"2026-11-20T12:00:00Z", "2026-11-20T12:00:00Z"},
		{"2026-11-20T12:00:00.8Z", "2026-11-20T12:00:00.2Z"},
		{"2026-11-20T12:00:00Z", "2025-11-20T12:00:00Z"},
		{"1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"},
		{"1970-01-01T00:00:00Z", "1960-01-01T00:00:00Z"},
		{"2300-01-01T00:00:00Z", "2200-01-01T00:00:00Z"},
	} {
		r := objectid.Between(at(c[0]), at(c[1]))
		if !r.IsEmpty() || r.Contains(objectid.ID{}) || r.Contains(objectid.New()) || r.Contains(r.From) {
			t.Errorf("Between(%s, %s) = %#v is not empty", c[0], c[1], r)
		}
	}
	if (objectid.Range{}).IsEmpty() {
		t.Error("the zero Range is empty")
	}
}

// Whatever a new generator makes while its clock shows a time between the two ends is
// in the range.
func TestNothingInBetweenIsMissed(t *testing.T) {
	moments := []int64{-1e9, 0, 1, 1_800_000_000, 1<<32 - 2, 1<<32 - 1, 1 << 32, 1e10}
	moment := func() time.Time {
		return time.Unix(moments[rand.IntN(len(moments))]+rand.Int64N(3)-1, rand.Int64N(4)*333_333_333)
	}
	for range 20_000 {
		t1, t2 := moment(), moment()
		now := moment()
		r := objectid.Between(t1, t2)
		id := newGenerator(t, &objectid.Options{Now: func() time.Time { return now }}).New()
		if inside := !now.Before(t1) && now.Before(t2); inside && !r.Contains(id) {
			t.Fatalf("Between(%v, %v) = %#v misses %v, made at %v", t1, t2, r, id, now)
		}
		if !now.Before(t1) && !objectid.Since(t1).Contains(id) {
			t.Fatalf("Since(%v) misses %v, made at %v", t1, id, now)
		}
		if now.Before(t2) && !objectid.Until(t2).Contains(id) {
			t.Fatalf("Until(%v) misses %v, made at %v", t2, id, now)
		}
		// Rounding takes in less than a second on either side.
		if far := now.Unix() > 0 && now.Unix() < 1<<32-1 && (now.Unix() < t1.Unix() || now.Unix() > t2.Unix()); far && r.Contains(id) {
			t.Fatalf("Between(%v, %v) = %#v holds %v, made at %v", t1, t2, r, id, now)
		}
	}
}

func TestLastIDIsWithinReach(t *testing.T) {
	last := objectid.MustParse("ffffffffffffffffffffffff")
	if !objectid.Since(at("2106-02-07T06:28:15Z")).Contains(last) || !(objectid.Range{}).Contains(last) {
		t.Error("the last id of all lies in no range")
	}
	if objectid.Until(at("2106-02-07T06:28:15Z")).Contains(last) {
		t.Error("the last id of all lies before its second")
	}
}

func TestAdjacentRangesShareNothing(t *testing.T) {
	a, b := at("2026-11-20T12:00:00Z"), at("2026-11-21T12:00:00Z")
	if before, after := objectid.Until(a), objectid.Between(a, b); before.To != after.From || before.Contains(after.From) || !after.Contains(after.From) || after.To != objectid.Since(b).From {
		t.Errorf("%#v and %#v do not meet", before, after)
	}
}

func TestRangeForms(t *testing.T) {
	from, to := objectid.MustParse("6b49d2000000000000000000"), objectid.MustParse("6b49d2010000000000000000")
	for _, c := range []struct {
		r                   objectid.Range
		sql, postgres, json string
		args                []any
	}{
		{
			objectid.Range{From: from, To: to},
			"id >= ? AND id < ?", "id >= $3 AND id < $4",
			`{"_id":{"$gte":{"$oid":"6b49d2000000000000000000"},"$lt":{"$oid":"6b49d2010000000000000000"}}}`,
			[]any{from, to},
		},
		{
			objectid.Range{From: from},
			"id >= ?", "id >= $3",
			`{"_id":{"$gte":{"$oid":"6b49d2000000000000000000"}}}`,
			[]any{from},
		},
		{
			objectid.Range{To: to},
			"id < ?", "id < $3",
			`{"_id":{"$lt":{"$oid":"6b49d2010000000000000000"}}}`,
			[]any{to},
		},
		{objectid.Range{}, "1 = 1", "1 = 1", "{}", nil},
	} {
		if where, args := c.r.SQL("id", 0); where != c.sql || !reflect.DeepEqual(args, c.args) {
			t.Errorf("SQL = %q, %v, want %q, %v", where, args, c.sql, c.args)
		}
		where, args := c.r.SQLHex("id", 3)
		if where != c.postgres || len(args) != len(c.args) {
			t.Errorf("SQLHex = %q, %v, want %q", where, args, c.postgres)
		}
		for i, arg := range args {
			if arg != (objectid.Hex{ID: c.args[i].(objectid.ID)}) {
				t.Errorf("SQLHex argument %d = %#v", i, arg)
			}
		}
		// The filter is the query of the JSON.
		var want any
		if err := json.Unmarshal([]byte(c.json), &want); err != nil {
			t.Fatal(err)
		}
		filter := c.r.Filter()
		if bounds, ok := filter["_id"].(map[string]any); ok {
			for k, v := range bounds {
				bounds[k] = map[string]any{"$oid": v.(objectid.ID).String()}
			}
		}
		if !reflect.DeepEqual(any(filter), want) {
			t.Errorf("Filter = %v, want %v", filter, want)
		}
	}
}
