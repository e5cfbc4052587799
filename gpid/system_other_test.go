//go:build !linux

package gpid_test

import (
	"errors"
	"os"
	"testing"

	"github.com/oidkit/oid/gpid"
)

func TestOtherSystemsSayWhatTheyLack(t *testing.T) {
	g, err := gpid.Self("127.0.0.1:8080")
	if again, _ := gpid.Self("127.0.0.1:8080"); err != nil || g.PID() != os.Getpid() || again != g {
		t.Errorf("Self = %v, %v, then %v", g, err, again)
	}
	if p, err := gpid.ProcessOf(os.Getpid()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Of = %+v, %v, want ErrUnsupported", p, err)
	}
	if alive, err := (gpid.Process{}).Alive(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Alive = %v, %v, want ErrUnsupported", alive, err)
	}
}
