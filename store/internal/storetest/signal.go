package storetest

import (
	"testing"
	"time"

	"github.com/oidkit/oid/store"
)

// quiet is the time after which settle concludes that no more signals come.
const quiet = 200 * time.Millisecond

// Signals checks that a signal sent with one store wakes the listeners of another store on the
// same database. Each call of open must return a store on that database. others says whether
// the engine also wakes listeners for other topics.
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
			t.Errorf("a listener for another topic was woken: %v, want %v", came, others)
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
		t.Fatal("no signal came within 10 seconds")
	}
}

// settle receives signals until none comes for a while, and reports whether any came.
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
