//go:build race

package objectid_test

// underRace is whether the race detector slows a generator down.
const underRace = true
