package pgstore

import (
	"encoding/hex"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store/internal/engine"
)

func rowsToCopy() []row {
	return []row{{&engine.Row{Doc: bson.Raw("first")}, []byte{1}}, {&engine.Row{Doc: bson.Raw("the second")}, []byte{2, 3}}}
}

// TestCopyReader: the content does not depend on the size of the reads.
func TestCopyReader(t *testing.T) {
	const want = "0003" + "00000001" + "01" + "00000008" + "0000000000000007" + "00000005" + "6669727374" +
		"0003" + "00000002" + "0203" + "00000008" + "0000000000000007" + "0000000a" + "746865207365636f6e64" + "ffff"
	for name, pieces := range map[string]func(io.Reader) io.Reader{
		"at once": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader,
	} {
		all, stop := copyReader(rowsToCopy(), func() []row { return nil }, 7)
		defer stop()
		got, err := io.ReadAll(pieces(all))
		if hex.EncodeToString(got) != want || err != nil {
			t.Errorf("%s: %x, %v, want %s", name, got, err, want)
		}
		rows := rowsToCopy()
		later := rows[1:]
		more := func() []row {
			defer func() { later = nil }()
			return later
		}
		all, stop = copyReader(rows[:1], more, 7)
		defer stop()
		got, err = io.ReadAll(pieces(all))
		if hex.EncodeToString(got) != want || err != nil {
			t.Errorf("%s, prepared meanwhile: %x, %v, want %s", name, got, err, want)
		}
	}
}

// TestCopyReaderAfterItsEnd: if the driver still reads after the call has returned, it does
// not read documents of the caller.
func TestCopyReaderAfterItsEnd(t *testing.T) {
	var ended atomic.Bool
	r, stop := copyReader(rowsToCopy(), func() []row {
		if ended.Load() {
			t.Error("another row is prepared")
		}
		return rowsToCopy()
	}, 7)
	if n, err := r.Read(make([]byte, 20)); n != 20 || err != nil {
		t.Fatal(n, err)
	}
	stop()
	ended.Store(true)
	if got, err := io.ReadAll(r); len(got) > 0 || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("read %q, %v", got, err)
	}
}

// TestSorted: documents are sent before all are prepared only if they are sorted by valid
// keys.
func TestSorted(t *testing.T) {
	doc := func(name string, id any) any {
		raw, err := bson.Marshal(bson.D{{Key: name, Value: id}, {Key: "n", Value: 1}})
		if err != nil {
			t.Fatal(err)
		}
		return bson.Raw(raw)
	}
	first, second := objectid.ID{11: 1}, objectid.ID{10: 1}
	for name, test := range map[string]struct {
		docs []any
		want bool
	}{
		"sorted":       {[]any{doc("_id", first), doc("_id", second)}, true},
		"falling":      {[]any{doc("_id", second), doc("_id", first)}, false},
		"equal":        {[]any{doc("_id", first), doc("_id", first)}, false},
		"other key":    {[]any{doc("_id", first), doc("_id", int32(1))}, false},
		"other field":  {[]any{doc("_ie", first), doc("_id", second)}, false},
		"no BSON":      {[]any{doc("_id", first), bson.D{{Key: "_id", Value: second}}}, false},
		"cut off":      {[]any{doc("_id", first), doc("_id", second).(bson.Raw)[:20]}, false},
		"shortest":     {[]any{doc("_id", first), doc("_id", second).(bson.Raw)[:21]}, true}, // it is refused later
		"nothing, nil": {[]any{bson.Raw(nil), nil}, false},
	} {
		if got := sorted(test.docs); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
