package main

import (
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store/sqlitestore"
)

// One process with a long name does not make all lines of oid ps long at a terminal: its name and
// its pod are shortened, and its GPID can still be copied. Elsewhere, and with --wide, nothing is
// shortened.
func TestPsAtATerminal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "oid.db")
	t.Setenv("OID_STORE", "sqlite:"+file)
	s := testenv.Must(sqlitestore.Open(t.Context(), file, nil))(t)
	name, pod := strings.Repeat("checkout-", 22), "checkout-"+strings.Repeat("x", 170)+"-7d4b9cf6d5-x2xkp"
	g := testenv.Must(gpid.New(netip.MustParseAddrPort("10.0.0.1:80"), time.Now().Add(-time.Hour), 4711))(t)
	testenv.Must(registry.New(s, nil).RegisterRemote(t.Context(), g, &registry.RemoteOptions{Name: name, Labels: map[string]string{"k8s.pod.name": pod}}))(t)
	testenv.Must(registry.New(s, nil).RegisterRemote(t.Context(), g, &registry.RemoteOptions{Name: "cart", Host: "vm-3"}))(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	shown := func(args ...string) string {
		t.Helper()
		master, slave := terminal(t)
		lines := make(chan string)
		go func() {
			text, _ := io.ReadAll(master) // an error when the last one closes the other end
			lines <- strings.ReplaceAll(string(text), "\r\n", "\n")
		}()
		code := run(t.Context(), streams{os.Stdin, slave, slave}, append([]string{"ps"}, args...))
		if err := slave.Close(); err != nil || code != 0 {
			t.Errorf("oid ps %q: exit code %d, %v", args, code, err)
		}
		return <-lines
	}
	short := shown()
	for line := range strings.Lines(short) {
		if n := uniseg.StringWidth(line); n > 210 {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	for _, want := range []string{"checkout-check…kout-checkout-  ", "…4b9cf6d5-x2xkp ", g.String() + " (member ", " vm-3 "} {
		if !strings.Contains(short, want) {
			t.Errorf("at a terminal there is no %q:\n%s", want, short)
		}
	}
	for what, text := range map[string]string{"--wide": shown("--wide"), "a pipe": oid(t, "", "ps").out} {
		if !strings.Contains(text, name) || !strings.Contains(text, pod) {
			t.Errorf("%s shortens:\n%s", what, text)
		}
	}
}

// A shortened text has both ends of the text and no more than the columns, also where characters
// are wide, combine or are many.
func TestShorten(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 5, ""},
		{"abcde", 5, "abcde"},
		{"abcdef", 5, "ab…ef"},
		{"abcdef", 4, "a…f"},
		{"abcdef", 3, "a…f"},
		{"abcdef", 1, "…"},
		{"订单服务", 8, "订单服务"},
		{"订单服务", 7, "订…务"},
		{"订单服务", 6, "订…务"},
		{strings.Repeat("a", 1<<20) + "bc", 6, "aa…bc"},
	} {
		if got := shorten(c.text, c.most); got != c.want || uniseg.StringWidth(got) > c.most {
			t.Errorf("%.20q in %d columns: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}
