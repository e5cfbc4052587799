package calls_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/lock"
)

// Repeat ends with success, with an error that will not pass, with ctx and with Close.
func TestRepeat(t *testing.T) {
	passes, fatal := errors.New("passes"), errors.New("fatal")
	mayPass := func(err error) bool { return err == passes }
	for _, test := range []struct {
		name   string
		limit  time.Duration // of ctx
		closed time.Duration // when Close is called
		fails  int           // attempts that fail with passes
		then   error
		want   []error
		took   time.Duration
	}{
		{"at once", time.Hour, time.Hour, 0, nil, nil, 0},
		{"after three", time.Hour, time.Hour, 3, nil, nil, 3 * time.Second},
		{"does not pass", time.Hour, time.Hour, 3, fatal, []error{fatal}, 3 * time.Second},
		{"ctx ends", 10 * time.Second, time.Hour, 1000, nil, []error{context.DeadlineExceeded, passes}, 10 * time.Second},
		{"ctx has ended", 0, time.Hour, 1000, nil, []error{passes}, 0},
		{"Close", time.Hour, 10 * time.Second, 1000, nil, []error{lock.ErrClosed}, 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := opened(t)
			defer c.Close()
			time.AfterFunc(test.closed, func() { c.Close() })
			ctx, cancel := context.WithTimeout(t.Context(), test.limit)
			defer cancel()
			began := time.Now()
			err := c.Repeat(ctx, time.Second, mayPass, func(context.Context) error {
				if test.fails--; test.fails >= 0 {
					return passes
				}
				return test.then
			})
			if (err == nil) != (test.want == nil) {
				t.Errorf("%s: %v, want %v", test.name, err, test.want)
			}
			for _, want := range test.want {
				if !errors.Is(err, want) {
					t.Errorf("%s: %v, want %v", test.name, err, want)
				}
			}
			if took := time.Since(began); took < test.took/2 || took > 2*test.took {
				t.Errorf("%s: it took %v, want about %v", test.name, took, test.took)
			}
		})
	}
}
