package census

import "iter"

// merge reads two sorted sequences. It calls only with each record that one of them
// alone has, and returns how many both have.
func merge(a, b iter.Seq[record], only func(inA bool, r record) error) (both int64, err error) {
	next, stop := iter.Pull(b)
	defer stop()
	y, ok := next()
	for x := range a {
		for ; err == nil && ok && !x.sameID(y) && y.less(x); y, ok = next() {
			err = only(false, y)
		}
		switch {
		case err != nil:
			return both, err
		case ok && x.sameID(y):
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

// distinct yields the first record of each id in spans, which are sorted.
func distinct(spans iter.Seq[[]record]) iter.Seq[record] {
	return func(yield func(record) bool) {
		var prev record
		started := false
		for span := range spans {
			for _, r := range span {
				if started && r.sameID(prev) {
					continue
				}
				prev, started = r, true
				if !yield(r) {
					return
				}
			}
		}
	}
}
