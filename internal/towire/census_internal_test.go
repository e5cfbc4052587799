package towire

import (
	"testing"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/server/wire"
)

// The size of an event is ids or seconds, or nothing that is sent.
func TestEventSizes(t *testing.T) {
	for kind, want := range map[census.Kind]wire.Event{
		census.KindOutage:      {IDs: 7},
		census.KindImport:      {IDs: 7},
		census.KindDeletion:    {IDs: 7},
		census.KindClockStep:   {StepSeconds: 7},
		census.KindSharedValue: {},
	} {
		if got := event(census.Event{Kind: kind, Size: 7}); got.IDs != want.IDs || got.StepSeconds != want.StepSeconds {
			t.Errorf("%s: %d ids and %d seconds", kind, got.IDs, got.StepSeconds)
		}
	}
}
