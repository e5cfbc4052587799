package registry

import (
	"net/netip"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/store/memstore"
)

// registered returns a registry with a process that somebody else sends heartbeats for.
func registered(t *testing.T) (*Registry, Process) {
	t.Helper()
	g, err := gpid.New(netip.MustParseAddrPort("10.0.0.7:80"), time.Now().Add(-time.Hour), 4711)
	if err != nil {
		t.Fatal(err)
	}
	r := New(memstore.New(), nil)
	p, err := r.RegisterRemote(t.Context(), g, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r, p
}

func TestMemberKey(t *testing.T) {
	if k := MemberKey("0123456789abcdef"); !k.valid() {
		t.Errorf("%q is refused", k)
	}
	for _, bad := range []MemberKey{"", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", "0123456789abcde\xff", "0123456789abcde/"} {
		if bad.valid() {
			t.Errorf("%q is taken for a key", bad)
		}
	}
}
