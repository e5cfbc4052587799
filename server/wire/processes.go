package wire

import (
	"time"

	"github.com/oidkit/oid/objectid"
)

// ProblemBase is the beginning of the types of all problems of the API, see RFC 9457. After it
// comes the name of the problem. An error response without such a type is not one of this API:
// a proxy, or another server, has sent it.
const ProblemBase = "https://github.com/oidkit/oid/blob/main/docs/reference/api.md#"

// Registration asks the server to record a process.
//
// Without evidence ids, the process registers: it gets a process block of its own, with
// which it creates its ids. With evidence ids, which the process has already created, it is
// adopted: ids with the same process values are traced to it.
type Registration struct {
	// Key is the value of the header Idempotency-Key: 16 to 200 random printable
	// characters. A registration that is sent twice with the same key makes one member. If
	// Key is empty, package client draws one.
	Key string `json:"-"`

	Address string    `json:"address,omitempty" maxLength:"64" example:"10.0.0.7:8080" doc:"The ip:port at which peers reach the process. If the ip does not name a single host, such as 0.0.0.0 or 127.0.0.1, the server replaces it with the ip from which the request comes. Default, for a process that does not listen: the ip from which the request comes, with port 0."`
	PID     uint32    `json:"pid" format:"int64" minimum:"1" maximum:"4294967295" example:"4711" doc:"Process id."`
	Started time.Time `json:"started,omitzero" doc:"When the process started, by its own clock. Default: before now, and it is not known when."`

	StartUnknown bool `json:"start_unknown,omitempty" doc:"started is only the latest time at which the process may have started. Default: true if started is absent."`

	Name    string            `json:"name" minLength:"1" maxLength:"200" example:"shop" doc:"Name of the service, as human readers know it."`
	Version string            `json:"version,omitempty" maxLength:"200" doc:"Version of the program."`
	Labels  map[string]string `json:"labels,omitempty" maxProperties:"50" doc:"Labels of the process, such as {\"team\": \"orders\"}. A name has 1 to 100 bytes and a value up to 200, all of them printable characters."`

	Host        string        `json:"host,omitempty" maxLength:"255" doc:"Name of the process's host. An id of the classic layout contains a hash of the name of its host. When the server checks evidence ids and traces ids, it recognizes the host of the process by that hash."`
	EvidenceIDs []objectid.ID `json:"evidence_ids,omitempty" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" maxItems:"100" doc:"Ids that the process has created, by which the server adopts it: one for each of its process values. A process with several clients or workers has several process values. Default: none. A process without evidence ids gets a process block, with which it creates its ids."`
	Layout      string        `json:"layout,omitempty" enum:"modern,classic,java" doc:"Layout of the evidence ids. Default: modern."`

	IntervalSeconds float64 `json:"interval_seconds,omitempty" minimum:"1" maximum:"3600" doc:"Time between two heartbeats. Default: 10."`

	Clock      time.Time `json:"clock,omitzero" doc:"The time on the clock of the process when it sent the registration. The server compares it with its own clock, and traces of the process's ids allow for the difference. Default: the difference is not known."`
	AgeSeconds float64   `json:"age_seconds,omitempty" minimum:"0" maximum:"604800" doc:"How long ago the registration was made, if the sender has kept the registration while the server did not answer. Default: 0."`

	Kernel     *Kernel `json:"kernel,omitempty" doc:"What tells the process from all others that ran on its host; sent by an agent."`
	Executable string  `json:"executable,omitempty" maxLength:"4096" doc:"Path of the program that the process runs."`
}

// Heartbeat reports that a member is alive, and its load.
type Heartbeat struct {
	Load
	Clock time.Time `json:"clock,omitzero" doc:"The time on the clock of the process when it sent the heartbeat. The server compares it with its own clock, and traces of the process's ids allow for the difference. Default: the difference is not known."`

	Description *Description `json:"description,omitempty" doc:"What the process now says of itself, if that has changed since its registration or since an earlier heartbeat. Default: nothing has changed."`
}

// Description is what a process says of itself. Nothing proves it.
type Description struct {
	Name    string            `json:"name,omitempty" maxLength:"200" doc:"Name of the service. Default: the name of before."`
	Version string            `json:"version,omitempty" maxLength:"200" doc:"Version of the program. Default: the version of before."`
	Labels  map[string]string `json:"labels,omitempty" maxProperties:"50" doc:"All labels of the process. They replace those of before, so without this field the process has no labels. The bounds are those of a registration."`
}

// Registered describes a member: the answer to a registration, to a heartbeat, to added
// evidence and to an end.
type Registered struct {
	Member          string    `json:"member" example:"0a1b2c3d4e5f6071" doc:"Member key, for further requests."`
	GPID            string    `json:"gpid" example:"10.0.0.7:8080:1795166651598985:4711" doc:"GPID of the process. Processes on different hosts may have the same GPID."`
	ProcessBlock    string    `json:"process_block,omitempty" example:"0a1b2c3d" doc:"The four bytes after the seconds of each id that the process creates, in hexadecimal. The process chooses the last four bytes itself, such as with a counter, and must not repeat them within a second. Absent for an adopted process."`
	ProcessValue    string    `json:"process_value" doc:"The bytes by which ids are traced to the process, in hexadecimal."`
	Adopted         []Adopted `json:"adopted,omitempty" doc:"The adopted process values of the process."`
	IntervalSeconds float64   `json:"interval_seconds" doc:"Time between two heartbeats. A process that sends no heartbeat for three intervals counts as dead."`
	Rivals          []string  `json:"rivals,omitempty" doc:"GPIDs of other live processes with the same process value. If there are any, the process is in a collision."`
}

// Adopted is a process value that a process is said to use, with the evidence for it.
type Adopted struct {
	ProcessValue     string      `json:"process_value" doc:"The process value in hexadecimal: 5 bytes, or 4 in the layout java."`
	EvidenceID       objectid.ID `json:"evidence_id" doc:"An id with this process value, which the process is said to have created."`
	Evidence         string      `json:"evidence,omitempty" enum:"time,pid,host-and-pid" doc:"What the evidence id shows. time: the process ran when the id was created. pid: the id contains the pid of the process. host-and-pid: the id contains the host and the pid of the process. Absent if the process was pruned."`
	IDsFrom          time.Time   `json:"ids_from" doc:"Earliest creation time of ids that are traced to the process by this value."`
	IDsConfirmedFrom time.Time   `json:"ids_confirmed_from" doc:"When the registry first recorded that the process uses this value. If an id was created earlier, the reason of its trace says so."`
}

// AddedEvidence has further evidence ids of a recorded process.
type AddedEvidence struct {
	EvidenceIDs []objectid.ID `json:"evidence_ids" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" minItems:"1" maxItems:"100" nullable:"false" doc:"Ids that the process has created: one for each process value that is not recorded yet."`
	Layout      string        `json:"layout,omitempty" enum:"modern,classic,java" doc:"Layout of the evidence ids. Default: modern."`
}

// Load is what a process uses of the resources of its host. Unknown numbers are nil.
type Load struct {
	CPUSeconds  *float64 `json:"cpu_seconds,omitempty" minimum:"0" maximum:"9000000000" doc:"Processor time that the process has used since it started."`
	MemoryBytes *int64   `json:"memory_bytes,omitempty" minimum:"0" maximum:"9000000000000000000" doc:"Memory in RAM. The registry rounds it to 4 KiB."`
	HeapBytes   *int64   `json:"heap_bytes,omitempty" minimum:"0" maximum:"9000000000000000000" doc:"Size of the heap."`
	Files       *int64   `json:"files,omitempty" minimum:"0" maximum:"9000000000000000000" doc:"Open file descriptors."`
	Threads     *int64   `json:"threads,omitempty" minimum:"0" maximum:"9000000000000000000" doc:"Threads of the kernel."`
	Goroutines  *int64   `json:"goroutines,omitempty" minimum:"0" maximum:"9000000000000000000" doc:"Goroutines, or tasks of other languages."`
}

// Sample is the load of a process at one time.
type Sample struct {
	Member string    `json:"member,omitempty" example:"0a1b2c3d4e5f6071" doc:"Member key of the process. The answer to a trace omits it."`
	Time   time.Time `json:"time"`
	Load
	Processors *float64 `json:"processors,omitempty" doc:"Average number of processors in use since the previous sample of the member, such as 1.5. Absent in its first sample."`
}

// Process is a recorded process and its state.
type Process struct {
	GPID       string            `json:"gpid" example:"10.0.0.7:8080:1795166651598985:4711"`
	Member     string            `json:"member" example:"0a1b2c3d4e5f6071" doc:"Member key. Each registration has its own, even if one process registers several times, or if processes on different hosts have the same GPID."`
	Name       string            `json:"name,omitempty"`
	Host       string            `json:"host,omitempty" doc:"Name of the host."`
	Executable string            `json:"executable,omitempty" doc:"Path of the program that the process runs."`
	Version    string            `json:"version,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	InstanceID string            `json:"instance_id,omitempty" example:"007765ba-458a-5bc3-bd96-ad92fa9841e5" doc:"Value of OpenTelemetry's attribute service.instance.id: what the process says or, for a process that registered, what is made of its GPID. Absent if it is not known."`

	State     string `json:"state" enum:"alive,late,dead,ended"`
	Reason    string `json:"reason" doc:"Why the process is in this state."`
	Presumed  bool   `json:"presumed,omitempty" doc:"The process counts as dead only because its heartbeats are missing. There is no other evidence."`
	Successor string `json:"successor,omitempty" doc:"GPID of a later process at the same address."`

	ProcessValue string       `json:"process_value" doc:"The bytes by which ids are traced to the process, in hexadecimal: the 4 of its process block, or 5 if it is adopted (4 in the layout java)."`
	ProcessBlock string       `json:"process_block,omitempty" doc:"The process block that the process owns, in hexadecimal."`
	EvidenceID   *objectid.ID `json:"evidence_id,omitempty" doc:"The first id by which the process was adopted."`
	Adopted      []Adopted    `json:"adopted,omitempty" doc:"All adopted process values of the process. A trace of an id with such a value may have the verdict claimed, but never known."`
	Remote       bool         `json:"remote,omitempty" doc:"The heartbeats of the process come over the HTTP API."`
	Rivals       []string     `json:"rivals,omitempty" doc:"GPIDs of other live processes with the same process value. If there are any, the process is in a collision."`

	IDsFrom          time.Time `json:"ids_from" doc:"Earliest creation time of ids that are traced to the process."`
	IDsConfirmedFrom time.Time `json:"ids_confirmed_from" doc:"Earliest creation time for which the registration is confirmed. A trace of an id that was created earlier is not certain."`
	IDsUntil         time.Time `json:"ids_until" doc:"Latest time at which the process may have created ids: its end, if one was reported. Otherwise this is three intervals after its last heartbeat, or the start of its successor if that is earlier."`

	IntervalSeconds float64       `json:"interval_seconds" doc:"Time between two heartbeats."`
	LastHeartbeat   LastHeartbeat `json:"last_heartbeat"`
	End             *End          `json:"end,omitempty" doc:"The end of the process, if one was reported."`

	ClockOffset *ClockOffset `json:"clock_offset,omitempty" doc:"How far the clock of the process is ahead of the clock of the server that records its heartbeats. Absent if that is not known, or if the process and the server have the same clock."`

	Kernel           *Kernel `json:"kernel,omitempty" doc:"What tells the process from all others that ran on its host."`
	StartUnknown     bool    `json:"start_unknown,omitempty" doc:"The start time in gpid is only the latest time at which the process may have started."`
	NetworkNamespace uint64  `json:"network_namespace,omitempty" doc:"Number of the network namespace of the process."`
}

// LastHeartbeat is the latest heartbeat of a process.
type LastHeartbeat struct {
	Number int64     `json:"number" doc:"How many heartbeats the process has sent, including this one."`
	Time   time.Time `json:"time"`
	Load
}

// End says when and why a process ended.
type End struct {
	Time   time.Time `json:"time"`
	Reason string    `json:"reason"`
}

// ClockOffset says how far the clock of a process was ahead of the clock of the server: the
// smallest and the largest difference that was seen. A number is negative if the clock of the
// process was behind.
type ClockOffset struct {
	MinSeconds float64 `json:"min_seconds"`
	MaxSeconds float64 `json:"max_seconds"`
}

// Kernel is the identity of a process in the kernel of its host.
type Kernel struct {
	BootID       string `json:"boot_id" doc:"Random id that Linux draws at each boot."`
	PIDNamespace uint64 `json:"pid_namespace" doc:"Number of the PID namespace."`
	PID          int    `json:"pid" doc:"Process id in that namespace."`
	StartTicks   uint64 `json:"start_ticks" doc:"Time from boot to the start of the process, in units of 10 ms."`
	Program      uint32 `json:"program,omitempty" format:"int64" doc:"Number that identifies the program which the process runs; it changes when the process starts another program with exec. Absent if it is not known."`
}

// Processes is one page of the list of processes.
type Processes struct {
	Processes []Process `json:"processes" nullable:"false"`
	Next      string    `json:"next,omitempty" doc:"Pass this value as after to get the next page. Absent on the last page."`
}

// Heartbeats has the heartbeats of many processes, such as all processes of a host.
type Heartbeats struct {
	Heartbeats []HeartbeatOf `json:"heartbeats" nullable:"false" maxItems:"10000"`
}

// HeartbeatOf is the heartbeat of one process, in [Heartbeats].
type HeartbeatOf struct {
	Member string `json:"member" pattern:"^[0-9a-f]{16}$" example:"0a1b2c3d4e5f6071" doc:"Member key, from the answer to the registration."`
	Heartbeat
	AgeSeconds float64 `json:"age_seconds,omitempty" minimum:"0" maximum:"604800" doc:"How long ago the heartbeat was made, if the sender has kept the heartbeat while the server did not answer. Send the oldest heartbeat of a process first. Default: 0."`
}

// HeartbeatResults is the answer to [Heartbeats].
type HeartbeatResults struct {
	Recorded int64              `json:"recorded" doc:"How many heartbeats are recorded."`
	Problems []HeartbeatProblem `json:"problems,omitempty" doc:"The heartbeats with a problem, in the order of the request."`
}

// HeartbeatProblem says what is wrong with one of many heartbeats.
type HeartbeatProblem struct {
	Member string   `json:"member"`
	Status int      `json:"status" doc:"HTTP status of this heartbeat. 409 with rivals means that the heartbeat is recorded, but the process is in a collision. Otherwise the heartbeat is not recorded. After 404, and after 409 without rivals, register again."`
	Detail string   `json:"detail"`
	Rivals []string `json:"rivals,omitempty" doc:"GPIDs of other live processes with the same process value. If there are any, the process is in a collision. Its heartbeat is recorded nevertheless."`
}

// History is the load over time of all processes with one GPID.
type History struct {
	Processes []Process `json:"processes" nullable:"false" doc:"The members with the GPID: several registrations of one process, or processes on different hosts."`
	Samples   []Sample  `json:"samples" nullable:"false" doc:"The load samples of these members, in order of time."`
	Next      string    `json:"next,omitempty" doc:"If the limit left samples out, pass this value as since to get them. Otherwise absent."`
}

// Trace says which process created an id, and on what evidence.
type Trace struct {
	TimedID
	Verdict   string    `json:"verdict" enum:"known,claimed,unknown,conflict,collision" doc:"known: one process owned the process block of the id when the id was created. claimed: one process is said to have used the process value of the id when the id was created, or has the host and the pid that the id contains; neither is proof. unknown: no recorded process has ever had the process value. conflict: recorded processes have the process value, but it is proven that none of them had it when the id was created. collision: more than one recorded process may have created the id."`
	Reason    string    `json:"reason" doc:"Why the verdict is what it is."`
	Certain   bool      `json:"certain" doc:"The verdict is known, and it is proven: the registration and the heartbeats of the process cover the creation time, and no other recorded process may have created the id."`
	Processes []Process `json:"processes" nullable:"false" doc:"The known or claimed process; in a conflict or collision, all candidates."`
	Adopted   *Adopted  `json:"adopted,omitempty" doc:"The adopted process value by which the id is traced. Absent unless the verdict is claimed; also absent if the id is traced by the host and the pid that it contains."`

	Classic *Classic `json:"classic,omitempty" doc:"The host and the pid that the id contains if its layout is classic. Absent if a process is recorded with the process value of the id, or if the registry does not know the host."`

	Before     *Sample  `json:"before,omitempty" doc:"The last load sample before the creation time; absent if there is none."`
	After      *Sample  `json:"after,omitempty" doc:"The first load sample after the creation time; absent if there is none."`
	Processors *float64 `json:"processors,omitempty" doc:"Average number of processors in use around the creation time."`

	Links []Link `json:"links,omitempty" doc:"The links that the operator has configured."`

	Deploy *Deploy `json:"deploy,omitempty" doc:"How the version of the process was deployed. Absent if the process has no version, if the verdict is neither known nor claimed, or if it was not looked up."`
}

// Deploy says how a version of a service came to run. It is concluded from the recorded
// processes of the service.
type Deploy struct {
	Service string    `json:"service" example:"eu/orders@production" doc:"Name of the service, with the labels service.namespace and deployment.environment.name of its processes."`
	Version string    `json:"version" doc:"Version of its processes, with the label vcs.ref.head.revision."`
	Time    time.Time `json:"time,omitzero" doc:"When the first process of the version started. Absent if that cannot be told, because the version ran at records_since or before."`
	Since   time.Time `json:"records_since,omitzero" doc:"The time from which all processes are known. Absent if no earlier records were deleted or left out."`
	First   bool      `json:"first,omitempty" doc:"No process of the service was recorded before. That is no deploy."`
	Again   bool      `json:"again,omitempty" doc:"The version ran before, and another one since, as after a rollback."`
	Text    string    `json:"text" example:"1.4.2, first seen 12 minutes before this id" doc:"The same for people."`
}

// Link leads from an id to another program, such as to the logs of its process. It is made from
// a template of the operator and from what the process says of itself.
type Link struct {
	Name    string `json:"name" example:"logs"`
	URL     string `json:"url,omitempty" doc:"Absent if there is no link."`
	Problem string `json:"problem,omitempty" doc:"Why there is no link. Absent if there is one."`
}

// Classic is the host and the pid in an id of the classic layout.
type Classic struct {
	Machine string `json:"machine" doc:"The first three bytes of the MD5 sum of the host's name, in hexadecimal."`
	Host    string `json:"host" doc:"Name of the host."`
	PID     int    `json:"pid" doc:"The low 16 bits of the pid."`
}

// Pruned is the number of records that were deleted from the registry.
type Pruned struct {
	Samples   int64 `json:"samples"`
	Processes int64 `json:"processes"`
}
