package census

import "slices"

// fault is what is wrong with one writer.
type fault struct {
	shared   bool
	ids      int64 // of the writer
	falls    []fall
	more     int64    // falls beyond those
	examples []record // of a shared value
}

// maxFaults is how many writers of each fault are kept.
const maxFaults = maxExamples

// fault keeps f, whose records are still turned.
func (t *tally) fault(f fault, w *writer) {
	f.ids = w.ids
	f.examples = slices.Clone(f.examples)
	for i, r := range f.examples {
		f.examples[i] = unturned(r, w.process)
	}
	f.falls = slices.Clone(f.falls)
	for i, fl := range f.falls {
		f.falls[i] = fall{unturned(fl.before, w.process), unturned(fl.after, w.process)}
	}
	t.keep(f)
}

// keep keeps f if there are not enough of its kind already.
func (t *tally) keep(f fault) {
	kept := 0
	for _, have := range t.faults {
		if have.shared == f.shared {
			kept++
		}
	}
	if kept < maxFaults {
		t.faults = append(t.faults, f)
	}
}
