package unpack

import "testing"

// SetMaxSpool changes how much of a zip may be copied to a temporary file, for one test.
func SetMaxSpool(t testing.TB, size int64) {
	before := maxSpool
	maxSpool = size
	t.Cleanup(func() { maxSpool = before })
}
