package pgstore

import (
	"encoding/hex"
	"io"
	"testing"
	"testing/iotest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store/internal/engine"
)

func rowsToCopy() []row {
	return []row{{&engine.Row{Doc: bson.Raw("first")}, []byte{1}}, {&engine.Row{Doc: bson.Raw("the second")}, []byte{2, 3}}}
}

// TestCopyReader reads the same, whatever the size of the pieces.
func TestCopyReader(t *testing.T) {
	const want = "0003" + "00000001" + "01" + "00000008" + "0000000000000007" + "00000005" + "6669727374" +
		"0003" + "00000002" + "0203" + "00000008" + "0000000000000007" + "0000000a" + "746865207365636f6e64" + "ffff"
	for name, pieces := range map[string]func(io.Reader) io.Reader{
		"at once": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader,
	} {
		got, err := io.ReadAll(pieces(&copyReader{rows: rowsToCopy(), call: 7}))
		if hex.EncodeToString(got) != want || err != nil {
			t.Errorf("%s: %x, %v, want %s", name, got, err, want)
		}
		rows := rowsToCopy()
		later := rows[1:]
		more := func() []row {
			defer func() { later = nil }()
			return later
		}
		got, err = io.ReadAll(pieces(&copyReader{rows: rows[:1], more: more, call: 7}))
		if hex.EncodeToString(got) != want || err != nil {
			t.Errorf("%s, prepared meanwhile: %x, %v, want %s", name, got, err, want)
		}
	}
}

// TestCopyReaderAfterItsEnd: what the driver reads after the call has returned is
// not the caller's documents.
func TestCopyReaderAfterItsEnd(t *testing.T) {
	r := &copyReader{rows: rowsToCopy(), more: func() []row { t.Error("another row is prepared"); return nil }}
	if n, err := r.Read(make([]byte, 20)); n != 20 || err != nil {
		t.Fatal(n, err)
	}
	r.close()
	if got, err := io.ReadAll(r); len(got) > 0 || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
}

// TestRising: only documents whose keys are certain and in order are sent before all are
// prepared.
func TestRising(t *testing.T) {
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
		"rising":       {[]any{doc("_id", first), doc("_id", second)}, true},
		"falling":      {[]any{doc("_id", second), doc("_id", first)}, false},
		"equal":        {[]any{doc("_id", first), doc("_id", first)}, false},
		"other key":    {[]any{doc("_id", first), doc("_id", int32(1))}, false},
		"other field":  {[]any{doc("_ie", first), doc("_id", second)}, false},
		"no BSON":      {[]any{doc("_id", first), bson.D{{Key: "_id", Value: second}}}, false},
		"cut off":      {[]any{doc("_id", first), doc("_id", second).(bson.Raw)[:20]}, false},
		"shortest":     {[]any{doc("_id", first), doc("_id", second).(bson.Raw)[:21]}, true}, // it is refused later
		"nothing, nil": {[]any{bson.Raw(nil), nil}, false},
	} {
		if got := rising(test.docs); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
