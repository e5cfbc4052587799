package idset

import "iter"

// Merge reads two sorted sequences. It calls only with each record that one of them
// alone has, and returns how many both have.
func Merge(a, b iter.Seq[Record], only func(inA bool, r Record) error) (both int64, err error) {
	next, stop := iter.Pull(b)
	defer stop()
	y, ok := next()
	for x := range a {
		for ; err == nil && ok && !x.SameID(y) && y.less(x); y, ok = next() {
			err = only(false, y)
		}
		switch {
		case err != nil:
			return both, err
		case ok && x.SameID(y):
			both++
			y, ok = next()
		default:
			err = only(true, x)
		}
	}
	for ; err == nil && ok; y, ok = next() {
		err = only(false, y)
	}
	return both, err
}
