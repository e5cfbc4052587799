// Package bench is the root of a module of measurements, apart from oid's own so
// that no peer that is measured becomes a dependency of oid.
//
// Each folder but changes and page is a command that measures one thing beside its peers,
// in one run, and writes a section of docs/benchmarks.md; "make bench" runs them all.
//
// # Rule
//
// A table has the best peer that somebody could install today, in the configuration
// that its own documents recommend for speed, on data that a person would have. Nothing
// is bound to processors unless a column says so, and what people run as a process is
// measured as a whole process. All take turns in each round, and a ratio is the median of
// the rounds' ratios. Rows in which a peer leads are printed like the others. A table says
// in one sentence what was left out, and why, and which versions were measured. A ratio
// that differs from that of the page before by more than noise is printed with the
// section, and all of them at the end of "make bench".
//
// Before a table is published, somebody who did not write it looks for a faster way to
// do the same with other tools.
package bench
