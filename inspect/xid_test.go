package inspect_test

import (
	"math/rand/v2"
	"testing"

	"github.com/rs/xid"

	"github.com/oidkit/oid/inspect"
)

// Texts of 20 characters are read as an xid exactly if package xid reads them.
func TestXIDAgreesWithItsPackage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const digits = "0123456789abcdefghijklmnopqrstuvwW="
	read := 0
	for range 20_000 {
		text := make([]byte, 20)
		for i := range text {
			text[i] = digits[random.IntN(32)]
		}
		switch random.IntN(3) {
		case 0:
			text[random.IntN(20)] = digits[random.IntN(len(digits))]
		case 1:
			text[19] = "0g"[random.IntN(2)]
		}
		want, err := xid.FromString(string(text))
		report, _ := inspect.Inspect(string(text), nil)
		got := len(report.Readings) > 0 && report.Readings[0].Format == inspect.XID
		if got != (err == nil) {
			t.Fatalf("%q: read %v, package xid: %v", text, got, err)
		}
		if got {
			read++
			if r := report.Readings[0]; report.ID != want.String() || !r.Time.Equal(want.Time()) {
				t.Fatalf("%q: %+v, want %v", text, report, want.Time())
			}
		}
	}
	if read < 1000 {
		t.Errorf("only %d of the texts are xids", read)
	}
}
