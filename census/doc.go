// Package census tells what the ids of a whole collection say: when its documents
// were made, by how many processes, and what is wrong with the ids.
//
// Start with [New], give the [Census] its sources with [Census.Read], and ask for
// the [Report]:
//
//	c := census.New(nil)
//	err := c.Read(ctx, "orders.bson", file)
//	r, err := c.Report(nil)
//	err = r.WriteText(os.Stdout, census.Screen{})
//
// A report can also be written as JSON, which its types describe, and as a page
// of HTML with plots. [Compare] tells two censuses apart.
//
// # What is promised
//
// Every id counts: numbers are not estimated from a sample. A census needs no
// more than 24 bytes of memory for each id, and some hundred megabytes at most
// beside, whatever the size of the documents. No input makes it crash or run for
// ever; what cannot be read is reported with its place, and what was read before
// still counts.
//
// The readers look for ids and do not validate documents: of a JSON document or a
// BSON document whose id stands in front, the rest is passed over unread, but for
// its end.
//
// # What is not promised
//
// An id says which process value made it and when, by that process's clock.
// Everything beyond that is inferred from how the counters of one value go on:
//
//   - Missing ids are counter values that were passed. They were used for other
//     collections, for documents that are deleted, or for nothing. A writer that
//     makes more than 2^24 ids elsewhere between two that are here hides as many
//     of them.
//   - A clock that stepped back shows as a counter that goes on while the time
//     falls by two seconds or more. A step in a stretch without ids does not
//     show.
//   - A shared process value shows as two rows of counters at the same time. Two
//     processes that make an id every few minutes show after some twenty ids, and
//     two whose rows follow each other without an overlap never do.
//   - The layout of a writer is a guess by its time and by its neighbours.
//
// # Design
//
// A source is read in blocks. Lines are looked through by several goroutines at
// once, while BSON, whose documents say where the next one begins, is read ahead
// by one goroutine and followed by another. Each id becomes a record of 16 bytes
// in the list of its writer. Dumps are mostly in order of time, so these lists are
// mostly sorted, and one pass over each follows its counter. Only a writer that is
// not simply one process with a clock that runs forwards is looked at again, in
// the order of its counter.
package census
