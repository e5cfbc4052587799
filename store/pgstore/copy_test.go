package pgstore

import (
	"encoding/hex"
	"io"
	"testing"
	"testing/iotest"

	"go.mongodb.org/mongo-driver/v2/bson"

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
	}
}

// TestCopyReaderAfterItsEnd: what the driver reads after the call has returned is
// not the caller's documents.
func TestCopyReaderAfterItsEnd(t *testing.T) {
	r := &copyReader{rows: rowsToCopy()}
	if n, err := r.Read(make([]byte, 20)); n != 20 || err != nil {
		t.Fatal(n, err)
	}
	r.close()
	if got, err := io.ReadAll(r); len(got) > 0 || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
}
