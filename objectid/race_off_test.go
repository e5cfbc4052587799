//go:build !race

package objectid_test

const underRace = false
