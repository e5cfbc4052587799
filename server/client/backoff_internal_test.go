package client

import (
	"errors"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/backoff"
)

// A pause doubles up to the longest one, is at least what the server asks for but not more
// than the longest, and differs between clients by up to a quarter.
func TestBackoff(t *testing.T) {
	const longest = 8 * time.Second
	lost := errors.New("no answer")
	asks := func(after time.Duration) error { return &Error{Status: 503, RetryAfter: after} }
	var b backoff.Backoff
	for i, test := range []struct {
		err  error
		want time.Duration
	}{
		{lost, time.Second},
		{asks(time.Millisecond), 2 * time.Second},
		{asks(6 * time.Second), 6 * time.Second},
		{lost, longest},
		{lost, longest},
		{asks(time.Hour), longest},
	} {
		if got := pauseAfter(&b, test.err, longest); got < test.want || got > test.want*5/4 {
			t.Errorf("pause %d is %v, want %v and up to a quarter more", i+1, got, test.want)
		}
	}
	different := map[time.Duration]bool{}
	for range 20 {
		var b backoff.Backoff
		different[pauseAfter(&b, lost, longest)] = true
	}
	if len(different) < 2 {
		t.Error("20 clients that failed together come back together")
	}
}
