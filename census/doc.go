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
// the size of the documents; beyond a limit, see Options.Memory, ids go to disk, and the
// numbers are the same. So are those of several censuses that were saved, see
// [Census.Save], and read as one. No input makes it crash or run for ever. Unreadable
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
//     counter wraps, and each full round of 2^24 is not counted. Between one run of a
//     process and the next there are no gaps.
//   - A clock step backwards shows as ids whose counters go on where later ids ended.
//     A step in a period without ids does not show, nor one by less than some
//     seconds; a step forwards never does.
//   - A shared process value shows as sequences of counters that take turns. Some
//     twenty ids of each process are enough. Runs that follow each other, with the
//     same process value, are restarts.
//   - A resumed state shows as runs whose counters begin among those that were used
//     before. A single one among 1,000 ids or more may be a restart.
//   - Threads that reserve counters in blocks look like clock steps and shared values.
//     Where they explain the ids, nothing is claimed.
//   - Findings about single processes must be so unlikely by chance that one in 16,384
//     censuses has a wrong one. What is less certain, but unlikely in one of 64 process
//     values, is in Report.Doubts, and so is a process that creates most of its ids
//     elsewhere, by 16,384 counters from id to id. All other breaks are restarts.
//   - Ids from before 2009 and from the future are reported and are no evidence of
//     anything else.
//
// # Design
//
// Each id becomes a record of 16 bytes in the list of its process value. Lists for which
// there is no memory are sorted and written to disk in blocks (internal/idset), as in a
// saved census (file.go), and read again some process values at a time.
// Dumps are mostly in order of time, so these lists are nearly sorted, and one pass over each
// follows its counter (process.go). Only a process value that is not simply one
// process with a clock that runs forwards is divided into lines (lines.go), of which
// those that overlap or adjoin make a cluster (cluster.go). Its ids are examined in the
// order of their counters (falls.go). A verdict adds up the evidence (pool.go) of the
// whole life of a process value against a healthy process (judge.go). Every threshold is
// in thresholds.go.
package census
