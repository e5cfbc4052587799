package pgstore

import (
	"context"
	"testing"
)

// A run of the listener that was ended, because nobody listened for a while, does not say
// that nothing arrives when another has begun.
func TestListenerThatWasEnded(t *testing.T) {
	l := &listener{watchers: map[chan struct{}]string{}}
	old, cancel := context.WithCancel(t.Context())
	l.stop = cancel
	l.set(old, true)
	if !l.works() {
		t.Error("a run has begun, and nothing arrives")
	}
	l.stopIfIdle()
	if l.works() {
		t.Error("the run has ended, and something arrives")
	}
	l.set(old, true)
	if l.works() {
		t.Error("a run that has ended says that something arrives")
	}
	l.set(t.Context(), true)
	l.set(old, false)
	if !l.works() {
		t.Error("a run that has ended says that nothing arrives")
	}
}
