//go:build race

package server_test

// underRace is whether the race detector slows the server down.
const underRace = true
