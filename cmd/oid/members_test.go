package main

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store/sqlitestore"
)

// Two processes with one GPID, as in two pods, are two in every command, each with its host,
// its member key and its load.
func TestMembersWithOneGPID(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.db")
	t.Setenv("OID_STORE", "sqlite:"+file)
	s, err := sqlitestore.Open(t.Context(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := registry.New(s, nil)
	g, err := gpid.New(netip.MustParseAddrPort("0.0.0.0:8080"), time.Now().Add(-time.Minute), 1)
	if err != nil {
		t.Fatal(err)
	}
	var pods []registry.Process
	for i, host := range []string{"podA", "podB"} {
		p, err := r.RegisterRemote(t.Context(), g, &registry.RemoteOptions{Name: "shop", Host: host, Clock: time.Now()})
		for range 3 {
			_, beat := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: p.Key(), Load: registry.Load{CPU: registry.Unmeasured, RSS: int64(i+1) << 20}, Clock: time.Now()})
			err = errors.Join(err, beat)
		}
		if err != nil {
			t.Fatal(err)
		}
		pods = append(pods, p)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	list := oid(t, "", "ps")
	for i, p := range pods {
		name := fmt.Sprintf("%v (member %s)", g, p.Key())
		if !strings.Contains(list.out, name) {
			t.Errorf("ps lacks %s:\n%s%s", name, list.out, list.err)
		}
		id := fmt.Sprintf("%08x%s00000001", time.Now().Unix(), p.Block)
		if trace := oid(t, "", "trace", id); !strings.Contains(trace.out, "on        "+p.Host) || !strings.Contains(trace.out, fmt.Sprintf("memory %d.0 MiB", i+1)) || strings.Contains(trace.out, "reason") {
			t.Errorf("trace of an id of %s:\n%s%s", p.Host, trace.out, trace.err)
		}
	}
}
