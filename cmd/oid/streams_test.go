package main

import (
	"bytes"
	"errors"
	"testing"
)

// Each line on stderr says who writes it, also those of errors that were joined.
func TestWarnOfJoinedErrors(t *testing.T) {
	var out bytes.Buffer
	streams{err: &out}.warn("warning: %v", errors.Join(errors.New("lock: lost"), errors.New("redislock: no answer")))
	if got, want := out.String(), "oid: warning: lost\noid: no answer\n"; got != want {
		t.Errorf("warn wrote %q, want %q", got, want)
	}
}
