package wire

import (
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// Join records a process in the registry. Without a sample the process gets a
// block of process values of its own to make its ids with; with one, an id that it
// has made, its ids are traced to it from then on.
type Join struct {
	Addr  string    `json:"addr,omitempty" maxLength:"64" example:"10.0.0.7:8080" doc:"The ip:port that peers dial. Default: the address that the request comes from, and port 0, for a process that listens on nothing."`
	PID   uint32    `json:"pid" format:"int64" minimum:"1" maximum:"4294967295" example:"4711" doc:"Process id."`
	Start time.Time `json:"start,omitzero" doc:"When the process began. Default: now."`

	Name    string            `json:"name" minLength:"1" maxLength:"200" example:"shop" doc:"What people call the service."`
	Version string            `json:"version,omitempty" maxLength:"200" doc:"Version of the program."`
	Labels  map[string]string `json:"labels,omitempty" maxProperties:"50" doc:"Kept as they are. Keys have 1 to 100 bytes, values up to 200."`

	Sample objectid.ID     `json:"sample,omitzero" doc:"An id that the process has made. Default: it makes its ids with the block that it is given."`
	Layout objectid.Layout `json:"layout,omitempty" enum:"modern,classic,java" doc:"How the sample is laid out. Default: modern."`

	IntervalMS int64 `json:"interval_ms,omitempty" minimum:"1000" maximum:"3600000" doc:"Milliseconds between two heartbeats. Default: 10000."`
}

// Joined is what a process needs to know after Join.
type Joined struct {
	// GPID is the name of the process in further requests.
	GPID gpid.GPID `json:"gpid" doc:"Identity of the process, for further requests."`
	// Block is what comes after the seconds in its ids: 8 digits, then 8 bits and
	// a counter of 24 bits that it is free to count in. Empty with a sample.
	Block string `json:"block,omitempty" example:"0a1b2c3d" doc:"The first four bytes after the seconds in its ids, which are its own: the other four count. Missing with a sample."`
	// Value is what leads from its ids to it.
	Value string `json:"value" doc:"The process bytes that are traced to it."`
	// IntervalMS is how often to send a heartbeat.
	IntervalMS int64 `json:"interval_ms" doc:"Milliseconds between two heartbeats; after three without any it is presumed dead."`
	// Rivals are other live processes with the same value.
	Rivals []gpid.GPID `json:"rivals,omitempty" doc:"Other live processes with the same process bytes: a collision."`
}

// Heartbeat says that a process is alive, and what it uses. What is not known is
// left out.
type Heartbeat struct {
	CPUNS      *int64 `json:"cpu_ns,omitempty" minimum:"0" doc:"Processor time used since the process began, in nanoseconds."`
	RSSBytes   *int64 `json:"rss_bytes,omitempty" minimum:"0" doc:"Memory in RAM."`
	Files      *int64 `json:"files,omitempty" minimum:"0" doc:"Open file descriptors."`
	Threads    *int64 `json:"threads,omitempty" minimum:"0" doc:"Threads of the kernel."`
	Goroutines *int64 `json:"goroutines,omitempty" minimum:"0" doc:"Goroutines, or what the language has in their place."`
	HeapBytes  *int64 `json:"heap_bytes,omitempty" minimum:"0" doc:"Size of the heap."`
}

// Processes is a list of processes, by address and then in the order of their
// start.
type Processes struct {
	Processes []registry.Status `json:"processes" nullable:"false"`
	// More says that there are more than were asked for.
	More bool `json:"more,omitempty" doc:"There are more than the limit."`
}

// History is one run of a process over time.
type History struct {
	// Runs are its records, once for each time that it joined.
	Runs []registry.Status `json:"runs" nullable:"false" doc:"The records of the process, once for each time that it joined."`
	// Samples are its load, in order.
	Samples []registry.Sample `json:"samples" nullable:"false" doc:"Its load, in order of time."`
	// More says that there are more samples than were asked for.
	More bool `json:"more,omitempty" doc:"There are more samples than the limit."`
}
