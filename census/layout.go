package census

import "github.com/oidkit/oid/objectid"

// modernSince is 2018-01-01T00:00:00Z: before it, no driver wrote five random
// bytes.
const modernSince = 1514764800

// guessLayout says what a writer's process value most likely is. Values before
// 2018 were made of the machine and the process; so were those of later ones that
// have the first three bytes, the machine, in common with another writer, as long
// as there are too few writers for that to be chance.
func guessLayout(w writer, writers int64) objectid.Layout {
	const few = 1 << 11

	switch {
	case w.java:
		return objectid.Java
	case w.first < modernSince || w.kin && writers <= few:
		return objectid.Classic
	}
	return objectid.Modern
}
