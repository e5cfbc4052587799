package testenv

import "testing"

// Long skips a test, or a part of one, under "go test -short", which is for the loop of a
// day: no servers but redis-server, and nothing that takes longer than a second or two.
// why says what takes long.
func Long(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short: " + why)
	}
}
