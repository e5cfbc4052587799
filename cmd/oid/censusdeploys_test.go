package main

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store/sqlitestore"
)

// release is a process that was recorded at a time, and an id of it for each of its hours.
type release struct {
	name, version string
	at            time.Time
	hours         int
}

// released records the processes, and returns the URL of the store and a file with their ids.
func released(t *testing.T, all ...release) (store, ids string) {
	t.Helper()
	dir := t.TempDir()
	store, ids = filepath.Join(dir, "registry.db"), filepath.Join(dir, "ids")
	s, err := sqlitestore.Open(t.Context(), store, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var text strings.Builder
	for i, one := range all {
		now := one.at
		r := registry.New(s, &registry.Options{Now: func() time.Time { return now }})
		g, err := gpid.New(netip.MustParseAddrPort("10.9.8.7:8080"), now, i+1)
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.RegisterRemote(t.Context(), g, &registry.RemoteOptions{Name: one.name, Version: one.version, Labels: map[string]string{"service.namespace": "eu"}, Clock: now})
		if err != nil {
			t.Fatal(err)
		}
		for hour := range one.hours {
			now = one.at.Add(time.Duration(hour) * time.Hour)
			id := objectid.MinAt(now)
			if _, err := hex.Decode(id[4:], []byte(p.Block)); err != nil {
				t.Fatal(err)
			}
			binary.BigEndian.PutUint32(id[8:], uint32(hour+1))
			text.WriteString(id.String() + "\n")
		}
		if _, err := r.End(t.Context(), p.Key(), "ended", 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(ids, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + store, ids
}

// A census with a registry shows the deploys of the services that have ids in it, and of no others.
func TestCensusShowsDeploys(t *testing.T) {
	at := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	store, ids := released(t,
		release{"orders", "1.4.1", at, 30}, release{"mail", "1", at, 0}, release{"orders", "1.4.2", at.Add(26 * time.Hour), 20},
		release{"mail", "2", at.Add(30 * time.Hour), 0}, release{"orders", "1.4.1", at.Add(40 * time.Hour), 30})
	var got []string
	for _, e := range censusOf(t, "--store", store, ids).Deploys {
		got = append(got, e.Kind+" "+e.Service+" "+e.Version+" "+e.Start.Sub(at).String())
	}
	if want := "deploy eu/orders 1.4.2 26h0m0s, deploy eu/orders 1.4.1 40h0m0s"; strings.Join(got, ", ") != want {
		t.Errorf("deploys %q, want %q", got, want)
	}
	for _, args := range [][]string{{ids}, {"--store", store, "--to", "2026-11-03", ids}} {
		if events := censusOf(t, args...).Deploys; events == nil || len(events) != 0 {
			t.Errorf("oid census %v: %+v", args, events)
		}
	}
	var out, errs strings.Builder
	if code := run(t.Context(), streams{strings.NewReader(""), &out, &errs}, []string{"census", "--store", store, ids}); code != exitDone {
		t.Errorf("exit code %d, %s", code, errs.String())
	}
	if want := "\ndeploys\n2026-11-03 11:00  deploy: eu/orders 1.4.2 (likely)\n2026-11-04 01:00  deploy: eu/orders 1.4.1 (likely)\n"; !strings.Contains(out.String(), want) {
		t.Errorf("%s\nhas no %q", out.String(), want)
	}
}

// oid trace says since when the version of a process was there.
func TestTraceSaysDeploy(t *testing.T) {
	at := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	store, file := released(t, release{"orders", "1.4.1", at, 3}, release{"orders", "1.4.2", at.Add(3 * time.Hour), 5}, release{"mail", "", at, 1}, release{"orders", "1.4.1", at.Add(8 * time.Hour), 1})
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ids := strings.Fields(string(b))
	for i, want := range map[int]string{
		0: "  version   1.4.1, first seen in the second of this id\n", 2: "  version   1.4.1, first seen 2 hours before this id\n",
		4: "  version   1.4.2, first seen 1 hour before this id\n", 8: "", 9: "  version   1.4.1, deployed again in the second of this id\n",
	} {
		var out, errs strings.Builder
		code := run(t.Context(), streams{strings.NewReader(""), &out, &errs}, []string{"trace", "--store", store, ids[i]})
		if code != exitDone || !strings.Contains(out.String(), want) || want == "" && strings.Contains(out.String(), "  version ") {
			t.Errorf("oid trace %s: exit code %d, %s%swant %q", ids[i], code, out.String(), errs.String(), want)
		}
	}
}
