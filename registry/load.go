package registry

import (
	"slices"
	"time"

	"github.com/prometheus/procfs"
)

// Unmeasured is the value of a number in [Load], or of the result of [CPUUsed], that is not known.
const Unmeasured = -1

// Load is the resource usage of a process. A number is [Unmeasured] if the system, the
// permissions or the language of the process do not provide it.
type Load struct {
	// CPU is the processor time used since the process started.
	CPU time.Duration `bson:"cpu"`
	// RSS is the resident memory, in bytes.
	RSS int64 `bson:"rss"`
	// Files is the number of open file descriptors.
	Files int64 `bson:"files"`
	// Threads is the number of kernel threads.
	Threads int64 `bson:"threads"`
	// Goroutines is the number of goroutines, and Heap the size of the heap in bytes. Only
	// Go programs that register have them.
	Goroutines int64 `bson:"goroutines"`
	Heap       int64 `bson:"heap"`
}

// LoadField describes one number of [Load].
type LoadField struct {
	// Name is the JSON name of the number in the HTTP API.
	Name string
	// Title is the name that human readers see. For the unit [Count] it is a plural, such as
	// "threads"; without its last s it is the singular.
	Title string
	Unit  Unit
	// Of returns a pointer to the number in a load.
	Of func(*Load) *int64

	step   int64                // to a multiple of which large values are rounded when they are stored
	proc   func(*reading) int64 // reads it from /proc; nil if it is not there
	metric string               // of Go's runtime, or empty
}

// Unit is the unit of a number of [Load].
type Unit int

const (
	// Count is a number of things.
	Count Unit = iota
	// Bytes is a size.
	Bytes
	// Nanoseconds is processor time since the process started. To human readers, show its
	// rate instead, see [CPUUsed].
	Nanoseconds
)

// LoadFields returns the descriptions of all numbers of [Load], in a fixed order.
func LoadFields() []LoadField { return slices.Clone(loadFields[:]) }

// loadFields are the numbers of [Load]. Stored samples have the numbers in this order, so
// append new ones. A new number is also a field of Load and of the load in the HTTP API.
var loadFields = [...]LoadField{
	{
		Name: "cpu_seconds", Title: "cpu", Unit: Nanoseconds, step: int64(10 * time.Millisecond),
		Of:   func(l *Load) *int64 { return (*int64)(&l.CPU) },
		proc: func(r *reading) int64 { return int64(r.stat.CPUTime() * float64(time.Second)) },
	},
	{
		Name: "memory_bytes", Title: "memory", Unit: Bytes, step: 4 << 10,
		Of:   func(l *Load) *int64 { return &l.RSS },
		proc: func(r *reading) int64 { return int64(r.stat.ResidentMemory()) },
	},
	{
		Name: "files", Title: "files", step: 1,
		Of:   func(l *Load) *int64 { return &l.Files },
		proc: func(r *reading) int64 { return r.files },
	},
	{
		Name: "threads", Title: "threads", step: 1,
		Of:   func(l *Load) *int64 { return &l.Threads },
		proc: func(r *reading) int64 { return int64(r.stat.NumThreads) },
	},
	{
		Name: "goroutines", Title: "goroutines", step: 1,
		Of:     func(l *Load) *int64 { return &l.Goroutines },
		metric: "/sched/goroutines:goroutines",
	},
	{
		Name: "heap_bytes", Title: "heap", Unit: Bytes, step: 64 << 10,
		Of:     func(l *Load) *int64 { return &l.Heap },
		metric: "/memory/classes/heap/objects:bytes",
	},
}

// numbers are the numbers of a load, in the order of loadFields.
type numbers [len(loadFields)]int64

func numbersOf(l *Load) (n numbers) {
	for i := range loadFields {
		n[i] = *loadFields[i].Of(l)
	}
	return n
}

// set copies n to l.
func (n *numbers) set(l *Load) {
	for i := range loadFields {
		*loadFields[i].Of(l) = n[i]
	}
}

// unmeasured and noLoad are a load without any known number.
var unmeasured, noLoad = func() (n numbers, l Load) {
	for i := range n {
		n[i] = Unmeasured
	}
	n.set(&l)
	return n, l
}()

// reading is what the kernel says about a process.
type reading struct {
	stat  procfs.ProcStat
	files int64 // open file descriptors, or Unmeasured
}

// Sample is the load of a process at one time.
type Sample struct {
	Time time.Time
	Load
}
