package interop

import (
	"testing"

	"github.com/spf13/pflag"

	"github.com/oidkit/oid/objectid"
)

func TestFlagOfPflag(t *testing.T) {
	id, want := objectid.ID{}, objectid.New()
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	f.Var(&id, "id", "the id")
	if err := f.Parse([]string{"--id", want.String()}); err != nil || id != want {
		t.Errorf("%v, %v, want %v", id, err, want)
	}
	if err := f.Parse([]string{"--id", "x"}); err == nil || id != want {
		t.Errorf("a bad flag: %v, %v", id, err)
	}
}
