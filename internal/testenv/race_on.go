//go:build race

package testenv

import "os"

// UnderRace is whether the race detector slows everything down. The programs that tests
// start under it end at once, and not after the second for which they sleep by default.
const UnderRace = true

func init() {
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=10")
	}
}
