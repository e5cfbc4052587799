package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/registry"
)

// suggested returns what a shell is offered for the last of args, without descriptions,
// and the descriptions.
func suggested(t *testing.T, args ...string) (words, descriptions []string) {
	t.Helper()
	got := oid(t, "", append([]string{"__complete"}, args...)...)
	for line := range strings.Lines(got.out) {
		word, description, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(word, ":") {
			if word != ":4" {
				t.Errorf("%q: directive %s, want :4, which means no files", args, word)
			}
			break
		}
		words, descriptions = append(words, word), append(descriptions, description)
	}
	return words, descriptions
}

// The names of recorded processes are completed, with their state.
func TestCompleteProcess(t *testing.T) {
	eachStore(t, func(t *testing.T) {
		where := storeFlag{}
		s, err := where.openToWrite(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		shop, err := new(storeFlag).registry(s).Register(t.Context(), &registry.RegisterOptions{Name: "shop", Addr: "127.0.0.1:8080"})
		if err != nil {
			t.Fatal(err)
		}
		defer shop.End(context.WithoutCancel(t.Context()), "done")
		stock, err := new(storeFlag).registry(s).Register(t.Context(), &registry.RegisterOptions{Name: "stock", Addr: "127.0.0.1:8081"})
		if err != nil {
			t.Fatal(err)
		}
		if err := stock.End(t.Context(), "done"); err != nil {
			t.Fatal(err)
		}
		want := []string{shop.GPID().String(), stock.GPID().String()}
		for _, args := range [][]string{{"history", ""}, {"history", "127.0.0.1:80"}, {"adopt", "--add", ""}} {
			words, descriptions := suggested(t, args...)
			if !slices.Equal(words, want) || !slices.Equal(descriptions, []string{"shop, alive", "stock, ended"}) {
				t.Errorf("%q: %q %q, want %q", args, words, descriptions, want)
			}
		}
		if words, _ := suggested(t, "ps", "--name", ""); !slices.Equal(words, []string{"shop", "stock"}) {
			t.Errorf("ps --name: %q", words)
		}
		host, _ := os.Hostname()
		if words, _ := suggested(t, "ps", "--host", ""); !slices.Equal(words, []string{host}) {
			t.Errorf("ps --host: %q, want %s once", words, host)
		}
		if words, _ := suggested(t, "history", want[0], ""); words != nil {
			t.Errorf("second argument of history: %q", words)
		}
	})
}

// The names of locks that are held are completed, wherever locks are held.
func TestCompleteLock(t *testing.T) {
	redis := testenv.Redis(t).URL()
	for _, where := range []string{"file:", "sqlite:", redis} {
		path := filepath.Join(t.TempDir(), "locks")
		url := where
		if where != redis {
			url += path
		}
		if words, _ := suggested(t, "lock", "--locks", url, ""); words != nil {
			t.Errorf("%s: %q before any lock", url, words)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: completion has created it", url)
		}
		engine, err := lockEngineOf(url)
		if err != nil {
			t.Fatal(err)
		}
		l, err := engine.open(t.Context(), streams{}, url, lock.DefaultTTL)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		lease, err := l.TryAcquire(t.Context(), "report")
		if err != nil {
			t.Fatal(err)
		}
		defer lease.Release()
		if words, _ := suggested(t, "lock", "--locks", url, ""); !slices.Equal(words, []string{"report"}) {
			t.Errorf("%s: %q, want the lock", url, words)
		}
		slot, err := lock.Slots(l, 3).TryAcquire(t.Context(), "pool")
		if err != nil {
			t.Fatal(err)
		}
		defer slot.Release()
		if words, _ := suggested(t, "lock", "--locks", url, ""); !slices.Equal(words, []string{"pool", "report"}) {
			t.Errorf("%s: %q, want the lock of the slot", url, words)
		}
		if words, _ := suggested(t, "lock", "--locks", url, "report", ""); words != nil {
			t.Errorf("%s: %q after the name", url, words)
		}
		if words, _ := suggested(t, "lock", "--locks", url, "--status", "report", ""); !slices.Equal(words, []string{"pool", "report"}) {
			t.Errorf("%s: %q after the name with --status", url, words)
		}
	}
	if words, _ := suggested(t, "lock", "--locks", "redis://127.0.0.1:1", ""); words != nil {
		t.Errorf("without a server: %q", words)
	}
}

func TestCompleteZonesStatesAndSources(t *testing.T) {
	t.Setenv("OID_STORE", "sqlite:"+filepath.Join(t.TempDir(), "s.db"))
	oid(t, "{}", "insert", "events")
	if words, _ := suggested(t, "census", "store:"); !slices.Equal(words, []string{"store:events"}) {
		t.Errorf("census store: %q", words)
	}
	if got := oid(t, "", "__complete", "census", "du"); !strings.HasPrefix(got.out, ":0\n") {
		t.Errorf("census du: %q, want files", got.out)
	}
	if words, _ := suggested(t, "ps", "--state", ""); !slices.Equal(words, []string{"alive", "late", "dead", "ended"}) {
		t.Errorf("ps --state: %q", words)
	}
	words, _ := suggested(t, "inspect", "--tz", "")
	if !slices.Contains(words, "UTC") || !slices.Contains(words, "local") {
		t.Errorf("inspect --tz: %q", words)
	}
	if _, err := os.Stat(zoneTables[0]); err == nil && !slices.Contains(words, "Asia/Shanghai") {
		t.Errorf("%d zones are suggested, not Asia/Shanghai", len(words))
	}
}
