package wire

import (
	"time"

	"github.com/oidkit/oid/objectid"
)

// Registration asks the registry to record a process. Without an evidence id the process
// gets a process block of its own, with which it creates its ids. With evidence ids, ids
// that the process has created, the process is adopted: its ids are traced to it.
type Registration struct {
	// Key is the header Idempotency-Key, which makes it safe to send the registration
	// again. Package client sends a random one in place of an empty one.
	Key string `json:"-"`

	Address string    `json:"address,omitempty" maxLength:"64" example:"10.0.0.7:8080" doc:"The ip:port that peers dial. In place of an ip that many hosts have, such as 0.0.0.0 or 127.0.0.1, the server records the ip of the request, if that is none of them. Default: the ip of the request and port 0, for a process that listens on nothing."`
	PID     uint32    `json:"pid" format:"int64" minimum:"1" maximum:"4294967295" example:"4711" doc:"Process id."`
	Started time.Time `json:"started,omitzero" doc:"When the process started, by its own clock. Default: now."`

	Name    string            `json:"name" minLength:"1" maxLength:"200" example:"shop" doc:"Name of the service, for people."`
	Version string            `json:"version,omitempty" maxLength:"200" doc:"Version of the program."`
	Labels  map[string]string `json:"labels,omitempty" maxProperties:"50" doc:"Such as team: orders. Names have 1 to 100 bytes, values up to 200, of printable characters."`

	Host        string        `json:"host,omitempty" maxLength:"255" doc:"Name of its host. It is evidence for ids that carry a host."`
	EvidenceID  objectid.ID   `json:"evidence_id,omitzero" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"An id that the process has created. Default: the process creates its ids with the process block of the answer."`
	EvidenceIDs []objectid.ID `json:"evidence_ids,omitempty" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" maxItems:"100" doc:"One id of each further process value, for a process with several clients or workers."`
	Layout      string        `json:"layout,omitempty" enum:"modern,classic,java" doc:"Layout of the evidence ids. Default: modern."`

	IntervalSeconds float64 `json:"interval_seconds,omitempty" minimum:"1" maximum:"3600" doc:"Time between two heartbeats. Default: 10."`

	Clock      time.Time `json:"clock,omitzero" doc:"The time of the process when it sent this. With it, ids are judged by the clock of the process. Default: not known."`
	AgeSeconds float64   `json:"age_seconds,omitempty" minimum:"0" maximum:"604800" doc:"How old the registration is, if it was kept while the server was away. Default: 0."`

	Kernel     *Kernel `json:"kernel,omitempty" doc:"Identity of the process in the kernel of its host, from an agent."`
	Executable string  `json:"executable,omitempty" maxLength:"4096" doc:"Path of its program."`
}

// Heartbeat reports that a registered process is alive, and its load.
type Heartbeat struct {
	Load
	Clock time.Time `json:"clock,omitzero" doc:"The time of the process when it sent this. With it, ids are judged by the clock of the process. Default: not known."`
}

// Registered is the answer to a registration and to a heartbeat.
type Registered struct {
	Member          string    `json:"member" example:"0a1b2c3d4e5f6071" doc:"Member key, for further requests."`
	GPID            string    `json:"gpid" example:"10.0.0.7:8080:1795166651598985:4711" doc:"Identity of the process. Processes of several hosts may have the same one."`
	ProcessBlock    string    `json:"process_block,omitempty" example:"0a1b2c3d" doc:"The four bytes after the seconds of its ids, in hexadecimal. The process may use the last four bytes of an id as it likes, so that no id repeats. Absent for an adopted process."`
	ProcessValue    string    `json:"process_value" doc:"The bytes by which its ids are traced to it, in hexadecimal."`
	Adopted         []Adopted `json:"adopted,omitempty" doc:"Its adopted process values."`
	IntervalSeconds float64   `json:"interval_seconds" doc:"Time between two heartbeats. A process without a heartbeat for three intervals counts as dead."`
	Rivals          []string  `json:"rivals,omitempty" doc:"GPIDs of other live processes with the same process value: a collision."`
}

// Adopted is a process value that a process is said to use, by an evidence id.
type Adopted struct {
	ProcessValue     string      `json:"process_value" doc:"In hexadecimal: 5 bytes, with the layout java 4."`
	EvidenceID       objectid.ID `json:"evidence_id" doc:"An id that the process is said to have created."`
	Evidence         string      `json:"evidence,omitempty" enum:"time,pid,host-and-pid" doc:"What the evidence id shows: that the process ran when the id was created, the pid of the process, or its host and pid. Absent if the process was pruned."`
	IDsFrom          time.Time   `json:"ids_from" doc:"The earliest creation time of ids with the value."`
	IDsConfirmedFrom time.Time   `json:"ids_confirmed_from" doc:"When the process was adopted. Since then no other process can have held the value unseen."`
}

// AddedEvidence are further evidence ids of a recorded process.
type AddedEvidence struct {
	EvidenceIDs []objectid.ID `json:"evidence_ids" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" minItems:"1" maxItems:"100" nullable:"false" doc:"One id of each process value."`
	Layout      string        `json:"layout,omitempty" enum:"modern,classic,java" doc:"Layout of the evidence ids. Default: modern."`
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
	Member string    `json:"member,omitempty" example:"0a1b2c3d4e5f6071" doc:"Member key of the process. Absent in a trace."`
	Time   time.Time `json:"time"`
	Load
	Processors *float64 `json:"processors,omitempty" doc:"Processors in use since the previous sample of the member, such as 1.5. Absent in its first sample."`
}

// Process is a recorded process and its state.
type Process struct {
	GPID       string            `json:"gpid" example:"10.0.0.7:8080:1795166651598985:4711"`
	Member     string            `json:"member" example:"0a1b2c3d4e5f6071" doc:"Member key, which differs between processes with the same GPID and between registrations of one process."`
	Name       string            `json:"name,omitempty"`
	Host       string            `json:"host,omitempty" doc:"Name of its host."`
	Executable string            `json:"executable,omitempty" doc:"Path of its program."`
	Version    string            `json:"version,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`

	State     string `json:"state" enum:"alive,late,dead,ended"`
	Reason    string `json:"reason" doc:"Why it is in this state."`
	Presumed  bool   `json:"presumed,omitempty" doc:"The only evidence that it is dead is that its heartbeats are missing."`
	Successor string `json:"successor,omitempty" doc:"GPID of the later process at its address."`

	ProcessValue string       `json:"process_value" doc:"The bytes by which its ids are traced to it, in hexadecimal: 4 of a process block, 5 of an adopted process."`
	ProcessBlock string       `json:"process_block,omitempty" doc:"The process block that it owns, in hexadecimal."`
	EvidenceID   *objectid.ID `json:"evidence_id,omitempty" doc:"The id by which it was adopted."`
	Adopted      []Adopted    `json:"adopted,omitempty" doc:"All its adopted process values. Ids with them are claimed, not known."`
	Remote       bool         `json:"remote,omitempty" doc:"Its heartbeats come over the HTTP API."`
	Rivals       []string     `json:"rivals,omitempty" doc:"GPIDs of other live processes with the same process value: a collision."`

	IDsFrom          time.Time `json:"ids_from" doc:"The earliest creation time of its ids."`
	IDsConfirmedFrom time.Time `json:"ids_confirmed_from" doc:"When its registration was confirmed. Since then no other process can have held its process value unseen."`
	IDsUntil         time.Time `json:"ids_until" doc:"The latest creation time of its ids: its end, or three intervals after its last heartbeat."`

	IntervalSeconds float64       `json:"interval_seconds" doc:"Time between two heartbeats."`
	LastHeartbeat   LastHeartbeat `json:"last_heartbeat"`
	End             *End          `json:"end,omitempty" doc:"Its end, if it reported one."`

	ClockOffset *ClockOffset `json:"clock_offset,omitempty" doc:"By how much its clock is ahead; absent if that is not known, or nothing."`

	Kernel           *Kernel `json:"kernel,omitempty" doc:"Identity of the process in the kernel of its host."`
	NetworkNamespace uint64  `json:"network_namespace,omitempty" doc:"Number of its network namespace."`
}

// LastHeartbeat is the latest heartbeat of a process.
type LastHeartbeat struct {
	Number int64     `json:"number" doc:"How many heartbeats the process has sent."`
	Time   time.Time `json:"time"`
	Load
}

// End is how a process ended.
type End struct {
	Time   time.Time `json:"time"`
	Reason string    `json:"reason"`
}

// ClockOffset is the least and the most by which a clock is ahead. A clock that is behind
// has negative numbers.
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
	Program      uint32 `json:"program,omitempty" format:"int64" doc:"Tells apart the programs that the process runs one after the other with exec. Absent if it is not known."`
}

// Processes is a page of a list of processes.
type Processes struct {
	Processes []Process `json:"processes" nullable:"false"`
	Next      string    `json:"next,omitempty" doc:"The value of after for the next page; absent after the last one."`
}

// Heartbeats are the heartbeats of many processes, such as all of one host.
type Heartbeats struct {
	Heartbeats []HeartbeatOf `json:"heartbeats" nullable:"false" maxItems:"10000"`
}

// HeartbeatOf is the heartbeat of one of several processes.
type HeartbeatOf struct {
	Member string `json:"member" pattern:"^[0-9a-f]{16}$" example:"0a1b2c3d4e5f6071" doc:"Member key, from the answer to the registration."`
	Heartbeat
	AgeSeconds float64 `json:"age_seconds,omitempty" minimum:"0" maximum:"604800" doc:"How old the heartbeat is, if it was kept while the server was away. Send the oldest first. Default: 0."`
}

// HeartbeatResults is the answer to Heartbeats.
type HeartbeatResults struct {
	Recorded int64              `json:"recorded" doc:"How many heartbeats are recorded."`
	Problems []HeartbeatProblem `json:"problems,omitempty" doc:"The heartbeats with a problem, in their order."`
}

// HeartbeatProblem says what is wrong with one of several heartbeats.
type HeartbeatProblem struct {
	Member string   `json:"member"`
	Status int      `json:"status" doc:"409 for a collision, otherwise the status that the heartbeat alone would have. After 404, and after 409 without rivals, register again."`
	Detail string   `json:"detail"`
	Rivals []string `json:"rivals,omitempty" doc:"GPIDs of other live processes with the same process value: a collision. The heartbeat is recorded all the same."`
}

// History is the load of the processes with one GPID over time.
type History struct {
	Processes []Process `json:"processes" nullable:"false" doc:"The members with the GPID: registrations of one process, or processes of several hosts."`
	Samples   []Sample  `json:"samples" nullable:"false" doc:"Their load, in order of time."`
	Next      string    `json:"next,omitempty" doc:"The value of since for the samples after the limit; absent if there are none."`
}

// Trace names the process that created an id.
type Trace struct {
	TimedID
	Verdict   string    `json:"verdict" enum:"known,claimed,unknown,conflict,collision"`
	Reason    string    `json:"reason" doc:"Why this is the verdict."`
	Certain   bool      `json:"certain" doc:"The process is known, and its registration and heartbeats cover the creation time."`
	Processes []Process `json:"processes" nullable:"false" doc:"The known or claimed process, or the candidates of a conflict or collision."`
	Adopted   *Adopted  `json:"adopted,omitempty" doc:"The adoption by which a claimed id is traced."`

	Classic *Classic `json:"classic,omitempty" doc:"The host and pid in an id of the classic layout; absent unless the registry knows the host."`

	Before     *Sample  `json:"before,omitempty" doc:"The last sample before the creation time; absent without one."`
	After      *Sample  `json:"after,omitempty" doc:"The first sample after the creation time; absent without one."`
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
