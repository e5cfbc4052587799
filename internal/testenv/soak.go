package testenv

import "os"

// Rounds returns how often a test repeats what it does: so often in "make test", and
// so often where OID_SOAK is set.
func Rounds(test, soak int) int {
	if os.Getenv("OID_SOAK") != "" {
		return soak
	}
	return test
}
