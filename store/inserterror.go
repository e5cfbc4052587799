package store

import "fmt"

// InsertError is returned by [Store.InsertMany] if documents were refused. It
// wraps the error of each, so errors.Is(err, ErrDuplicate) reports whether one
// of them was a duplicate.
type InsertError struct {
	// Refused are the documents that were not stored, in the order of Index.
	Refused []Refusal
}

// Refusal is a document that was not stored.
type Refusal struct {
	Index int   // its place among the documents given
	Err   error // why; never nil
}

// Error says how many documents were refused and why the first was.
func (e *InsertError) Error() string {
	if len(e.Refused) == 0 {
		return "store: no document refused"
	}
	first := e.Refused[0]
	if len(e.Refused) == 1 {
		return fmt.Sprintf("insert document %d: %v", first.Index, first.Err)
	}
	return fmt.Sprintf("insert documents: %d refused, first document %d: %v", len(e.Refused), first.Index, first.Err)
}

// Unwrap returns the errors of the refused documents.
func (e *InsertError) Unwrap() []error {
	errs := make([]error, len(e.Refused))
	for i, r := range e.Refused {
		errs[i] = r.Err
	}
	return errs
}
