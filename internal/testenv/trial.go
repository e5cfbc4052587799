package testenv

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// Trial runs a test that is expected to fail, such as that of a suite against something
// broken. It returns the messages with which the test failed, none if it passed. A panic
// of the test's own goroutine is a failure too. The test may use t as any other, but for
// skipping; its Cleanup functions run before Trial returns, after its Context has ended.
func Trial(t testing.TB, test func(t testing.TB)) []string {
	t.Helper()
	try := &trial{TB: t}
	var end context.CancelFunc
	try.ctx, end = context.WithCancel(t.Context())
	try.run(test)
	end()
	for len(try.cleanups) > 0 {
		last := len(try.cleanups) - 1
		cleanup := try.cleanups[last]
		try.cleanups = try.cleanups[:last]
		try.run(func(testing.TB) { cleanup() })
	}
	try.mu.Lock()
	defer try.mu.Unlock()
	return slices.Clone(try.failures)
}

// trial is the testing.TB of a trial. It takes what would fail or clean up the real one;
// the rest is the real one's.
type trial struct {
	testing.TB
	ctx      context.Context
	cleanups []func()

	mu       sync.Mutex
	failures []string
}

// run runs f in a goroutine of its own, since FailNow ends the goroutine that calls it.
func (t *trial) run(f func(testing.TB)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if reason := recover(); reason != nil {
				t.Errorf("panic: %v", reason)
			}
		}()
		f(t)
	}()
	<-done
}

func (t *trial) fail(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = append(t.failures, text)
}

func (t *trial) Context() context.Context          { return t.ctx }
func (t *trial) Cleanup(f func())                  { t.cleanups = append(t.cleanups, f) }
func (t *trial) Error(args ...any)                 { t.fail(fmt.Sprint(args...)) }
func (t *trial) Errorf(format string, args ...any) { t.fail(fmt.Sprintf(format, args...)) }
func (t *trial) Fail()                             { t.fail("Fail was called") }
func (t *trial) FailNow()                          { t.Fail(); runtime.Goexit() }
func (t *trial) Fatal(args ...any)                 { t.Error(args...); runtime.Goexit() }
func (t *trial) Fatalf(format string, args ...any) { t.Errorf(format, args...); runtime.Goexit() }

func (t *trial) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.failures) > 0
}
