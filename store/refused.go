package store

import "fmt"

// RefusedError is returned by [Store.InsertMany] and [Store.SwapMany] if some of
// what they were given was refused and the rest was done. It wraps the error of
// each refusal, so errors.Is(err, ErrDuplicate) reports whether one of them was a
// duplicate.
type RefusedError struct {
	// Refused are the documents or swaps that were refused, in the order of
	// Index.
	Refused []Refusal
}

// Refusal is a document that was not inserted, or a swap that was not done.
type Refusal struct {
	Index int   // its place among those given
	Err   error // the reason; never nil
}

// Error returns how many were refused and why the first was.
func (e *RefusedError) Error() string {
	if len(e.Refused) == 0 {
		return "store: no document refused"
	}
	first := e.Refused[0]
	if len(e.Refused) == 1 {
		return fmt.Sprintf("document %d refused: %v", first.Index, first.Err)
	}
	return fmt.Sprintf("%d documents refused, first document %d: %v", len(e.Refused), first.Index, first.Err)
}

// Unwrap returns the errors of the refusals.
func (e *RefusedError) Unwrap() []error {
	errs := make([]error, len(e.Refused))
	for i, r := range e.Refused {
		errs[i] = r.Err
	}
	return errs
}
