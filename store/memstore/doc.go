// Package memstore keeps documents in the memory of the process: they last as long as
// it does. It is for tests of programs that use package store, and for trials, which
// need no disk and no server.
//
// Start with [New], which returns a [store.Store]. Each store is on its own; goroutines that
// are to see the same documents share one.
//
// [Store.Watch] is woken by the writes themselves. A document whose key is not the greatest
// of its collection takes time in proportion to how many have a greater one; the keys of
// new ObjectIds are nearly always the greatest.
package memstore
