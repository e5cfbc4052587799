package main

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// The JSON of oid new, which it appends without an encoder, is that of wire.TimedID.
func TestNewJSON(t *testing.T) {
	for _, at := range []string{"1970-01-01", "2012-10-17T21:13:27Z", "2106-02-07T06:28:15Z"} {
		got := oid(t, "", "new", "-n", "3", "--json", "--at", at)
		for text := range strings.Lines(got.out) {
			var v wire.TimedID
			if err := json.Unmarshal([]byte(text), &v); err != nil {
				t.Fatal(err)
			}
			want, err := json.Marshal(v)
			if err != nil || text != string(want)+"\n" || v.ID.IsZero() {
				t.Errorf("at %s: %q, want %s, %v", at, text, want, err)
			}
		}
		if strings.Count(got.out, "\n") != 3 || got.code != 0 {
			t.Errorf("at %s: %+v, want three lines", at, got)
		}
	}
}

// At the end of time there are no ids left, which is an error and not a panic.
func TestNewAtTheEndOfTime(t *testing.T) {
	testenv.WithoutRace(t)
	ids := make([]objectid.ID, 1<<20)
	for {
		g, err := objectid.NewGenerator(&objectid.Options{Now: func() time.Time { return time.Unix(math.MaxUint32, 0) }})
		if err != nil {
			t.Fatal(err)
		}
		if id := g.New(); id[8] < 190 {
			continue // it would take twice as long or more
		}
		for ids[0][8] < 255 || ids[0][9] < 0xD0 {
			g.Fill(ids)
		}
		if err := writeIDs(t.Context(), io.Discard, g, 1<<24, appendTimedID); !errors.Is(err, objectid.ErrExhausted) {
			t.Errorf("%v, want %v", err, objectid.ErrExhausted)
		}
		return
	}
}
