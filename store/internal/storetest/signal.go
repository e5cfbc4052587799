package storetest

import (
	"testing"
	"time"

	"github.com/oidkit/oid/store"
)

// quiet is how long nothing comes to a listener that should get nothing.
const quiet = 200 * time.Millisecond

// Signals checks that a signal of one store wakes those that listen at another, which
// open returns for the same place. others reports whether the engine also wakes those
// that listen for other topics.
func Signals(t *testing.T, open func() store.Store, others bool) {
	sender, receiver := store.SignalerOf(open()), store.SignalerOf(open())
	if sender == nil || receiver == nil {
		t.Fatal("a store has no Signaler")
	}
	wanted, works, stop := receiver.Listen("wanted")
	other, _, stopOther := receiver.Listen("other")
	defer stopOther()
	for !works() {
		await(t, wanted)
	}
	settle(wanted)
	settle(other)
	for range 3 {
		sender.Signal("nobody's", "wanted")
		await(t, wanted)
		if came := settle(other); came != others {
			t.Errorf("one that listens for another topic was woken: %v, want %v", came, others)
		}
	}
	settle(wanted)
	stop()
	sender.Signal("wanted")
	if settle(wanted) {
		t.Error("a signal came after stop")
	}
}

// await waits for a signal.
func await(t *testing.T, signals <-chan struct{}) {
	t.Helper()
	select {
	case <-signals:
	case <-time.After(10 * time.Second):
		t.Fatal("a signal has not come")
	}
}

// settle waits until nothing comes any more and reports whether something came.
func settle(signals <-chan struct{}) (came bool) {
	for {
		select {
		case <-signals:
			came = true
		case <-time.After(quiet):
			return came
		}
	}
}
