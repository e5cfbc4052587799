package locktest

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

// The checker must find what is wrong, or it is worth nothing.
func TestModelRefusesWrongHistories(t *testing.T) {
	op := func(call, end int64, o output) porcupine.Operation {
		return porcupine.Operation{Call: call, Return: end, Output: o}
	}
	for name, h := range map[string]history{
		"two holders": {
			op(0, 1, output{kind: granted, fence: 1}), op(2, 3, output{kind: granted, fence: 2, rank: 1}),
			op(4, 5, output{kind: released, fence: 1}), op(6, 7, output{kind: released, fence: 2}),
		},
		"fence goes back": {
			op(0, 1, output{kind: granted, fence: 2, rank: 1}), op(2, 3, output{kind: released, fence: 2}),
			op(4, 5, output{kind: granted, fence: 1}), op(6, 7, output{kind: released, fence: 1}),
		},
		"seen free while held": {
			op(0, 1, output{kind: granted, fence: 1}), op(2, 3, output{kind: seenFree}), op(4, 5, output{kind: released, fence: 1}),
		},
	} {
		if porcupine.CheckOperations(model, h) {
			t.Errorf("%s: passes", name)
		}
	}
}
