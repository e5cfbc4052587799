package agent

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// A refusal is logged once for a process and a reason. A user whose programs are refused
// without end does not fill the log, and does not hide the refusals of others. After an hour
// all are logged again.
func TestLogOfRefusals(t *testing.T) {
	t.Parallel()
	a, _ := listening(t, 100)
	var log bytes.Buffer
	a.Log = slog.New(slog.NewTextHandler(&log, nil))
	lines := func(want int, text string) {
		t.Helper()
		if n := strings.Count(log.String(), text); n != want {
			t.Errorf("%d lines with %q, want %d", n, text, want)
		}
	}
	err := errors.New("wrong")
	for range 3 {
		a.refused(7, 1, badLine, err)
		a.refused(7, 1, badID, err)
		a.refused(7, 2, badLine, err)
		a.refused(0, 2, otherNamespace, err)
	}
	lines(4, "what a program says is not recorded")
	lines(1, `msg="what a program says is not recorded" reason=line pid=7 user=1 error=wrong`)
	for pid := range 10_000 {
		a.refused(100+pid, 1, badLine, err)
		a.refused(100+pid, 1, badLine, err)
	}
	lines(maxLogged-1, "user=1 error=wrong")
	lines(5, "in this hour than are logged singly") // at 1,024, 2,048, 4,096, 8,192 and 16,384
	lines(1, "user=1 count=16384")
	a.refused(8, 2, badLine, err)
	a.refused(8, 2, attributes, err)
	lines(1, `msg="a program is recorded, but what it says of itself by OpenTelemetry cannot be read" reason=attributes pid=8`)
	lines(1, "reason=line pid=8 user=2")
	if len(a.logged) > maxLogged+10 {
		t.Errorf("%d refusals are remembered", len(a.logged))
	}
	a.clearAt = time.Now().Add(-time.Second)
	a.refused(7, 1, badLine, err)
	lines(2, "reason=line pid=7 user=1")
}
