package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

// Each line on stderr says who writes it, also those of errors that were joined.
func TestWarnOfJoinedErrors(t *testing.T) {
	var out bytes.Buffer
	streams{err: &out}.warn("warning: %v", errors.Join(errors.New("lock: lost"), errors.New("redislock: no answer")))
	if got, want := out.String(), "oid: warning: lost\noid: no answer\n"; got != want {
		t.Errorf("warn wrote %q, want %q", got, want)
	}
}

// A log as JSON has durations in seconds, as all JSON of oid.
func TestLogInSeconds(t *testing.T) {
	var out bytes.Buffer
	newLog(streams{err: &out}, true).Info("request", "took", 1500*time.Millisecond)
	if !strings.Contains(out.String(), `"took_seconds":1.5}`) {
		t.Errorf("%s", out.String())
	}
}
