// Package bench is the root of a module of measurements, apart from oid's own so
// that no peer that is measured becomes a dependency of oid.
//
// Each folder is a command that measures one thing beside its peers, in one run,
// and writes a section of docs/benchmarks.md; "make bench" runs them all.
package bench
