//go:build race

package testenv

// UnderRace is whether the race detector slows everything down.
const UnderRace = true
