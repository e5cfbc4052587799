// Package census analyses all ObjectIds of a collection: when its documents were
// created, by how many processes, and which ids deserve attention.
//
// Start with [New], read sources into the [Census] with [Census.Read], and get the
// [Report]:
//
//	c := census.New(nil)
//	err := c.Read(ctx, "orders.bson", file)
//	r, err := c.Report(nil)
//	err = report.WriteText(os.Stdout, r, report.Screen{})
//
// Package census/report writes a report as text and as a page of HTML with plots.
// Package census/source lists the formats that can be read. [Compare] finds the ids
// that only one of two censuses has.
//
// # What is promised
//
// Every id counts: numbers are not estimated from a sample. A census needs at most
// 24 bytes of memory for each id, and some hundred megabytes in addition, whatever
// the size of the documents. No input makes it crash or run for ever. Unreadable
// records are reported with their positions and skipped, and what was read before
// still counts.
//
// # What is not promised
//
// An id contains its process value and its creation time by the clock of that
// process. Everything else is inferred from the counters of each process value:
//
//   - Gaps are counter values that are not in the data. They were used for other
//     collections, for documents that are deleted, or not at all. If a
//     process creates 2^24 ids or more elsewhere between two ids in the data, its
//     counter wraps, and each full round of 2^24 is not counted.
//   - A clock step backwards shows as a counter that continues while the time falls
//     by two seconds or more. A step in a period without ids does not show.
//   - A shared process value shows as two sequences of counters at the same time.
//     Two processes that create an id every few minutes show after some twenty ids.
//     Two whose sequences follow each other without an overlap never show.
//   - The layout of a process is inferred from its time and from similar process
//     values.
//
// # Design
//
// Each id becomes a record of 16 bytes in the list of its process value. Dumps are
// mostly in order of time, so these lists are nearly sorted, and one pass over each
// follows its counter (process.go). Only a process value that is not simply one
// process with a clock that runs forwards is examined again, in the order of its
// counter (judge.go, view.go). Every threshold is in thresholds.go.
package census
