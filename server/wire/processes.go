package wire

import (
	"time"

	"github.com/oidkit/oid/objectid"
)

// Registration records a process in the registry. Without a sample the process
// gets a process block of its own and creates its ids with it. With a sample, an
// id that it has created, the process is adopted: its ids are traced to it.
type Registration struct {
	// Key makes it safe to send a registration again: it is the header Idempotency-Key.
	// Empty: package client sends a random one.
	Key string `json:"-"`

	Address string    `json:"address,omitempty" maxLength:"64" example:"10.0.0.7:8080" doc:"The ip:port that peers dial. An ip that is the same on every host, such as 0.0.0.0 or 127.0.0.1, does not tell them apart: the ip that the request comes from takes its place, also through a trusted proxy. If that is such an ip, too, the address is kept, and the host and the member tell the processes apart. Default: the ip of the request with port 0, which means that the process listens on nothing."`
	PID     uint32    `json:"pid" format:"int64" minimum:"1" maximum:"4294967295" example:"4711" doc:"Process id."`
	Started time.Time `json:"started,omitzero" doc:"When the process started, by its clock: at most an hour after the field clock, or after the time of the server without it. Default: now."`

	Name    string            `json:"name" minLength:"1" maxLength:"200" example:"shop" doc:"Name of the service, for people."`
	Version string            `json:"version,omitempty" maxLength:"200" doc:"Version of the program."`
	Labels  map[string]string `json:"labels,omitempty" maxProperties:"50" doc:"Stored unchanged. Keys have 1 to 100 bytes, values up to 200."`

	Host        string        `json:"host,omitempty" maxLength:"255" doc:"Name of its host. Some ids carry it: it shows that such a sample comes from there."`
	EvidenceID  objectid.ID   `json:"evidence_id,omitzero" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"An id that the process has created. Default: it creates its ids with the process block of the answer."`
	EvidenceIDs []objectid.ID `json:"evidence_ids,omitempty" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" maxItems:"100" doc:"Ids with its other process values, if it has several, as with several clients or workers."`
	Layout      string        `json:"layout,omitempty" enum:"modern,classic,java" doc:"Layout of the samples. Default: modern."`

	IntervalSeconds float64 `json:"interval_seconds,omitempty" minimum:"1" maximum:"3600" doc:"Time between two heartbeats. Default: 10."`

	Clock time.Time `json:"clock,omitzero" doc:"The time by the clock of the process when it sent this, so that ids are judged by its clock. Default: not known."`
	// AgeSeconds is 0 unless the registration was kept while the server was away.
	AgeSeconds float64 `json:"age_seconds,omitempty" minimum:"0" maximum:"604800" doc:"How long ago the heartbeats of an adopted process begin: those that were kept while the server was away. Default: 0."`

	// Kernel and Executable are what an agent on the host of the process knows of it.
	Kernel     *Kernel `json:"kernel,omitempty" doc:"How the kernel of its host identifies it: there the kernel shows whether it is alive. Sent by an agent."`
	Executable string  `json:"executable,omitempty" maxLength:"4096" doc:"Path of its program."`
}

// Heartbeat reports that a registered process is alive, and its load.
type Heartbeat struct {
	Load
	Clock time.Time `json:"clock,omitzero" doc:"The time by the clock of the process when it sent this, so that ids are judged by its clock. Default: not known."`
}

// Registered is the answer to a registration and to a heartbeat.
type Registered struct {
	Member string `json:"member" example:"0a1b2c3d4e5f6071" doc:"Member key: the registration, for further requests."`
	GPID   string `json:"gpid" example:"10.0.0.7:8080:1795166651598985:4711" doc:"Identity of the process, for people: processes of several hosts may have the same."`
	// ProcessBlock is empty for an adopted process.
	ProcessBlock string    `json:"process_block,omitempty" example:"0a1b2c3d" doc:"The four bytes after the seconds of its ids, in hexadecimal. The last four bytes of an id, 8 bits and a counter of 24, are free for it to count in. Absent for an adopted process."`
	ProcessValue string    `json:"process_value" doc:"The bytes of its ids that are traced to it, in hexadecimal."`
	Adopted      []Adopted `json:"adopted,omitempty" doc:"Its adopted process values."`
	// IntervalSeconds is the time between two heartbeats.
	IntervalSeconds float64 `json:"interval_seconds" doc:"Time between two heartbeats; after three without any the process counts as dead."`
	// Rivals are other live processes with the same process value.
	Rivals []string `json:"rivals,omitempty" doc:"GPIDs of other live processes with the same process value: a collision."`
}

// Adopted is a process value that a process is said to use, by a sample.
type Adopted struct {
	ProcessValue string      `json:"process_value" doc:"In hexadecimal: 5 bytes, with the layout java 4."`
	EvidenceID   objectid.ID `json:"evidence_id" doc:"An id that the process is said to have created."`
	// Evidence is empty if the record of the process was pruned.
	Evidence         string    `json:"evidence,omitempty" enum:"time,pid,host-and-pid" doc:"What the evidence id shows: that the process ran when it was created (time); its pid; its host and its pid."`
	IDsFrom          time.Time `json:"ids_from" doc:"The earliest creation time of ids with the value."`
	IDsConfirmedFrom time.Time `json:"ids_confirmed_from" doc:"The time of the adoption: since then no other process can have held the value unseen."`
}

// AddedEvidence are further evidence ids of a recorded process.
type AddedEvidence struct {
	EvidenceIDs []objectid.ID `json:"evidence_ids" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" minItems:"1" maxItems:"100" nullable:"false" doc:"Ids that the process has created, one of each process value."`
	Layout      string        `json:"layout,omitempty" enum:"modern,classic,java" doc:"Layout of the samples. Default: modern."`
}

// Load is the resources that a process uses. Unknown numbers are nil.
type Load struct {
	CPUSeconds  *float64 `json:"cpu_seconds,omitempty" minimum:"0" maximum:"9000000000" doc:"Processor time used since the process started."`
	MemoryBytes *int64   `json:"memory_bytes,omitempty" minimum:"0" doc:"Memory in RAM. It is stored to 4 KiB, a page of most processors."`
	HeapBytes   *int64   `json:"heap_bytes,omitempty" minimum:"0" doc:"Size of the heap."`
	Files       *int64   `json:"files,omitempty" minimum:"0" doc:"Open file descriptors."`
	Threads     *int64   `json:"threads,omitempty" minimum:"0" doc:"Threads of the kernel."`
	Goroutines  *int64   `json:"goroutines,omitempty" minimum:"0" doc:"Goroutines, or the tasks of other languages."`
}

// Sample is the load of a process at a time.
type Sample struct {
	// Member is empty in a trace.
	Member string    `json:"member,omitempty" example:"0a1b2c3d4e5f6071" doc:"Member key of the process."`
	Time   time.Time `json:"time"`
	Load
	// Processors is nil in the first sample of a process.
	Processors *float64 `json:"processors,omitempty" doc:"Processors in use since the sample before of the same member: 1.5 is one and a half."`
}

// Process is a recorded process and its state.
type Process struct {
	GPID       string            `json:"gpid" example:"10.0.0.7:8080:1795166651598985:4711"`
	Member     string            `json:"member" example:"0a1b2c3d4e5f6071" doc:"Member key: tells apart the processes with one GPID, and the registrations of one process."`
	Name       string            `json:"name,omitempty"`
	Host       string            `json:"host,omitempty" doc:"Name of its host."`
	Executable string            `json:"executable,omitempty" doc:"Path of its program."`
	Version    string            `json:"version,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`

	State string `json:"state" enum:"alive,late,dead,ended"`
	// Reason explains the state.
	Reason string `json:"reason" doc:"Explains the state."`
	// Presumed is set for a dead process if the only evidence is missing heartbeats.
	Presumed  bool   `json:"presumed,omitempty" doc:"It counts as dead because its heartbeats are missing."`
	Successor string `json:"successor,omitempty" doc:"GPID of the later process at its address."`

	// ProcessValue has 8 digits if the process owns a process block, and 10 if it
	// is adopted.
	ProcessValue string `json:"process_value" doc:"The bytes of its ids that are traced to it, in hexadecimal: 4 if it owns a process block, 5 if it is adopted."`
	ProcessBlock string `json:"process_block,omitempty" doc:"The process block that it owns, in hexadecimal."`
	// SampleID is nil unless the process is adopted.
	EvidenceID *objectid.ID `json:"evidence_id,omitempty" doc:"The id by which it was adopted."`
	Adopted    []Adopted    `json:"adopted,omitempty" doc:"All its adopted process values: its ids with them are claimed, not known."`
	Remote     bool         `json:"remote,omitempty" doc:"Its heartbeats come over the HTTP API."`
	Rivals     []string     `json:"rivals,omitempty" doc:"GPIDs of other live processes with the same process value: a collision."`

	IDsFrom          time.Time `json:"ids_from" doc:"The earliest creation time of its ids."`
	IDsConfirmedFrom time.Time `json:"ids_confirmed_from" doc:"The time from which its registration is confirmed: no other process can have held its process value unseen."`
	IDsUntil         time.Time `json:"ids_until" doc:"The latest creation time of its ids: its end, or three intervals after its last heartbeat."`

	IntervalSeconds float64       `json:"interval_seconds" doc:"Time between two heartbeats."`
	LastHeartbeat   LastHeartbeat `json:"last_heartbeat"`
	// End is nil unless the process reported its end.
	End *End `json:"end,omitempty" doc:"Its end, if it reported one."`

	// ClockOffset is nil if it is not known, or is none.
	ClockOffset *ClockOffset `json:"clock_offset,omitempty" doc:"By how much its clock is ahead of that of the other times, if it reported its clock."`

	Kernel           *Kernel `json:"kernel,omitempty" doc:"Identity of the process in its kernel, if it is known."`
	NetworkNamespace uint64  `json:"network_namespace,omitempty" doc:"Number of its network namespace."`
}

// LastHeartbeat is the latest heartbeat of a process.
type LastHeartbeat struct {
	Number int64     `json:"number" doc:"Rises by one with each heartbeat."`
	Time   time.Time `json:"time"`
	Load
}

// End is how a process ended.
type End struct {
	Time   time.Time `json:"time"`
	Reason string    `json:"reason"`
}

// ClockOffset bounds by how much a clock is ahead. It is negative for one that is
// behind.
type ClockOffset struct {
	MinSeconds float64 `json:"min_seconds"`
	MaxSeconds float64 `json:"max_seconds"`
}

// Kernel is the identity of a process in the kernel of its host.
type Kernel struct {
	BootID       string `json:"boot_id" doc:"Random id of the boot."`
	PIDNamespace uint64 `json:"pid_namespace" doc:"Number of the PID namespace."`
	PID          int    `json:"pid" doc:"Process id in that namespace."`
	StartTicks   uint64 `json:"start_ticks" doc:"Time from boot to the start of the process, in units of 10 ms."`
}

// Processes is a page of a list of processes.
type Processes struct {
	Processes []Process `json:"processes" nullable:"false"`
	Next      string    `json:"next,omitempty" doc:"The value of after for the next page; absent after the last one."`
}

// Heartbeats are the heartbeats of many processes, as those of a host.
type Heartbeats struct {
	Heartbeats []HeartbeatOf `json:"heartbeats" nullable:"false" maxItems:"10000"`
}

// HeartbeatOf is the heartbeat of one of several processes.
type HeartbeatOf struct {
	Member string `json:"member" pattern:"^[0-9a-f]{16}$" example:"0a1b2c3d4e5f6071" doc:"Member key, from the answer to the registration."`
	Heartbeat
	// AgeSeconds is 0 unless the heartbeat was kept while the server was away.
	AgeSeconds float64 `json:"age_seconds,omitempty" minimum:"0" maximum:"604800" doc:"How long ago the load was measured, and the clock read: for heartbeats that were kept while the server was away, in their order. Default: 0."`
}

// HeartbeatResults is the answer to Heartbeats.
type HeartbeatResults struct {
	Recorded int64              `json:"recorded" doc:"How many heartbeats are recorded."`
	Problems []HeartbeatProblem `json:"problems,omitempty" doc:"The heartbeats with a problem, in their order."`
}

// HeartbeatProblem says what is wrong with one of several heartbeats.
type HeartbeatProblem struct {
	Member string `json:"member"`
	Status int    `json:"status" doc:"409 for a collision, else the status that the heartbeat alone would have. With 404 or 409 register again, unless it is a collision."`
	Detail string `json:"detail"`
	// Rivals are other live processes with the same process value; the heartbeat is
	// recorded.
	Rivals []string `json:"rivals,omitempty" doc:"GPIDs of other live processes with the same process value: a collision. The heartbeat is recorded."`
}

// History is one process over time.
type History struct {
	Records []Process `json:"records" nullable:"false" doc:"The members with the GPID: several registrations of one process, or processes of several hosts."`
	Samples []Sample  `json:"samples" nullable:"false" doc:"Their load, in order of time."`
	Next    string    `json:"next,omitempty" doc:"If there are more samples than the limit: the value of since with which they go on."`
}

// Trace names the process that created an id.
type Trace struct {
	TimedID
	Verdict string `json:"verdict" enum:"known,claimed,unknown,conflict,collision"`
	Reason  string `json:"reason" doc:"Explains the verdict."`
	// Certain is set if the verdict is known and the registration and heartbeats
	// of the process cover the creation time.
	Certain bool `json:"certain" doc:"The process is known, and its registration and heartbeats cover the creation time."`
	// Processes has one element if the verdict is known or claimed, the candidates if
	// it is conflict or collision, and is empty otherwise.
	Processes []Process `json:"processes" nullable:"false" doc:"The process if it is known or claimed, the candidates of a conflict or collision."`
	// Claim is nil unless a sample claims the id for the process.
	Adopted *Adopted `json:"adopted,omitempty" doc:"The adoption by which a claimed id is traced."`

	// Classic is nil unless the machine bytes are those of a known host.
	Classic *Classic `json:"classic,omitempty" doc:"What the id says in the classic layout, if its process value is not recorded and its machine bytes are those of a known host."`

	// Before and After are nil where there is no such sample.
	Before     *Sample  `json:"before,omitempty" doc:"The last sample before the creation time."`
	After      *Sample  `json:"after,omitempty" doc:"The first sample after the creation time."`
	Processors *float64 `json:"processors,omitempty" doc:"Processors in use around the creation time."`
}

// Classic is the host and the pid in an id.
type Classic struct {
	Machine string `json:"machine" doc:"First three bytes of the MD5 of the host's name, in hexadecimal."`
	Host    string `json:"host" doc:"Name of the host."`
	PID     int    `json:"pid" doc:"Low 16 bits of the pid."`
}

// Pruned is how many records were deleted from the registry.
type Pruned struct {
	Samples   int64 `json:"samples"`
	Processes int64 `json:"processes"`
}
