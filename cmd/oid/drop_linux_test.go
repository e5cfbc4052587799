package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/store"
)

// TestDropAsks drops a collection at a terminal: only yes is a yes.
func TestDropAsks(t *testing.T) {
	t.Setenv("OID_STORE", "sqlite:"+filepath.Join(t.TempDir(), "s.db"))
	for _, test := range []struct {
		answer string
		code   int
		left   string
	}{
		{"\n", exitFailed, "events\n"},
		{"n\n", exitFailed, "events\n"},
		{"yeah\n", exitFailed, "events\n"},
		{"\x04", exitFailed, "events\n"}, // end of input
		{"y\n", exitDone, ""},
		{"YES\n", exitDone, ""},
	} {
		oid(t, "", "insert", "events", `{}`)
		master, slave := terminal(t)
		if _, err := io.WriteString(master, test.answer); err != nil {
			t.Fatal(err)
		}
		var shown bytes.Buffer
		code := run(t.Context(), streams{slave, io.Discard, &shown}, []string{"drop", "events"})
		if code != test.code || !strings.HasPrefix(shown.String(), "Drop collection events (") {
			t.Errorf("answer %q: exit code %d, want %d, asked %q", test.answer, code, test.code, &shown)
		}
		if got := oid(t, "", "collections").out; got != test.left {
			t.Errorf("answer %q: collections %q are left, want %q", test.answer, got, test.left)
		}
		slave.Close()
	}
}

// A collection that cannot be counted is not dropped: nobody is asked.
func TestDropThatCannotCount(t *testing.T) {
	master, slave := terminal(t)
	defer slave.Close()
	if _, err := io.WriteString(master, "y\n"); err != nil {
		t.Fatal(err)
	}
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	var shown bytes.Buffer
	if err := confirm(cmd, streams{slave, io.Discard, &shown}, uncounted{}, "drop", "events"); !errors.Is(err, store.ErrClosed) || shown.Len() > 0 {
		t.Errorf("%v, asked %q, want the store's error and no question", err, &shown)
	}
}

// uncounted is a store that cannot count.
type uncounted struct{ store.Store }

func (uncounted) Count(context.Context, string, store.Range) (int64, error) {
	return 0, store.ErrClosed
}
