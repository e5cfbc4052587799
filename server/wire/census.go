package wire

import "time"

// CensusVersion is the version of the JSON format of [Census] and [Difference]. It
// increases when a field is removed or changes its meaning.
const CensusVersion = 2

// Census is the analysis of all ids of one or more sources.
type Census struct {
	Version int `json:"version" doc:"Version of this format."`
	CollectionCensus
	Collections []CollectionCensus `json:"collections,omitempty" doc:"If there are several collections, the analysis of each. The fields of the census itself are then sums, without timeline, processes, doubts, events and findings."`
}

// CollectionCensus is the analysis of all ids of one collection, or the sums of several.
type CollectionCensus struct {
	Collection    string         `json:"collection,omitempty" doc:"Name of the collection, with its database. Absent if there are several collections, or if no source names its collection."`
	Field         string         `json:"field" doc:"The field from which the ids were read."`
	ReferenceTime time.Time      `json:"reference_time" doc:"The time that counts as now. Ids that were created more than five minutes later are from the future."`
	Sources       []CensusSource `json:"sources" nullable:"false" doc:"The sources that were read, in the order given."`

	IDs          int64         `json:"ids" doc:"How many ObjectIds were counted. One that occurs twice counts twice."`
	DistinctIDs  int64         `json:"distinct_ids" doc:"How many different ids there are."`
	RepeatedIDs  int64         `json:"repeated_ids" doc:"How many different ids occur more than once."`
	OutsideIDs   int64         `json:"outside_ids" doc:"How many ids were not counted because they are outside the time range."`
	Elections    *Elections    `json:"elections,omitempty" doc:"The ids that are electionIds. They hold no creation time. Absent if there are none."`
	Others       []OtherValues `json:"others" nullable:"false" doc:"Values that are not ObjectIds, by type; the most frequent type first."`
	WithoutField int64         `json:"without_field" doc:"How many documents or rows lack the field."`

	Unjudged *Unjudged `json:"unjudged,omitempty" doc:"Why no ids were judged although documents were read. Absent if ids were judged, or if there were no documents."`

	First    *time.Time `json:"first" doc:"Earliest creation time that is neither before 2009 nor in the future; null if there is none."`
	Last     *time.Time `json:"last" doc:"Latest creation time that is neither before 2009 nor in the future; null if there is none."`
	Timeline Timeline   `json:"timeline" doc:"When the ids were created."`

	Processes    int64           `json:"processes" doc:"How many processes created the ids, judged by process values and counters."`
	Gaps         int64           `json:"gaps" doc:"Sum of the gaps of all processes: counter values that are not in the data."`
	TopProcesses []CensusProcess `json:"top_processes" nullable:"false" doc:"The processes with the most ids, then a few of the others with a finding."`

	Doubts []Doubt `json:"doubts" nullable:"false" doc:"Irregular counters that may or may not be faults, by kind."`

	Events  []Event `json:"events" nullable:"false" doc:"What happened, in order of time."`
	Deploys []Event `json:"deploys" nullable:"false" doc:"When the services of the top processes were deployed, as their recorded processes say; in order of time. Empty without a registry."`

	ShortestOutageBusy  *float64 `json:"shortest_outage_busy_seconds" doc:"How long a time without ids must be to be reported as an outage, in the busiest hours of the week. A shorter time may be chance. Null if this is not known."`
	ShortestOutageQuiet *float64 `json:"shortest_outage_quiet_seconds" doc:"How long a time without ids must be to be reported as an outage, in the quietest hours of the week. A shorter time may be chance. Null if this is not known."`

	Findings []Finding `json:"findings" doc:"What deserves attention. Null if no ids were judged."`
}

// Unjudged says why a census judged no ids: the field has none in any document.
type Unjudged struct {
	Looked    int64       `json:"looked" doc:"In how many of the first documents or rows ids were looked for in other fields."`
	Elsewhere []Elsewhere `json:"elsewhere" nullable:"false" doc:"Fields that have ids, at most five: those with the most ids."`
	First     string      `json:"first,omitempty" doc:"The members of the first of these documents and their types, or the columns."`
	Text      string      `json:"text" doc:"The same as a sentence."`
}

// Elsewhere is a field that has ids although another one was asked for.
type Elsewhere struct {
	Field    string `json:"field" doc:"What to ask for instead: the path of the field, or the name of the column."`
	IDs      int64  `json:"ids" doc:"How many ids it has in the documents that were searched."`
	InText   bool   `json:"in_text,omitempty" doc:"The field is in a string that contains JSON."`
	IsColumn bool   `json:"is_column,omitempty" doc:"The field is a column of CSV."`

	InOtherText bool `json:"in_other_text,omitempty" doc:"The ids are among other words in the field. Only the format grep reads them."`
}

// Elections are electionIds: the primary of a replica set has an id of the form of an ObjectId
// that holds the number of its election in place of a time.
type Elections struct {
	IDs   int64  `json:"ids" doc:"How many there are."`
	First uint32 `json:"first" doc:"The lowest number of an election."`
	Last  uint32 `json:"last" doc:"The highest number of an election."`
}

// Event is something that happened to a collection, as its ids show.
type Event struct {
	Kind         string    `json:"kind" doc:"outage, import, deletion, clock-step, shared-process-value, resumed-state or no-sequence; in deploys, deploy."`
	Start        time.Time `json:"start"`
	End          time.Time `json:"end"`
	IDs          int64     `json:"ids,omitempty" doc:"Approximate number of ids. For an import: how many more than usual were created. For a deletion: how many are missing. For an outage: how many are usually created in a time of this length and at these hours."`
	StepSeconds  int64     `json:"step_seconds,omitempty" doc:"How far a clock step set the clock backwards."`
	Share        float64   `json:"share,omitempty" doc:"For a deletion: which share of the ids that were created from start to end is missing, from 0 to 1."`
	ProcessValue string    `json:"process_value,omitempty"`
	Usual        string    `json:"usual,omitempty" doc:"For an outage: what is usual at these hours, such as: all 212 other days have ids."`
	Confidence   string    `json:"confidence" doc:"certain, likely or possible."`
	Service      string    `json:"service,omitempty" doc:"For a deploy: the service that was deployed, as namespace/name@environment."`
	Version      string    `json:"version,omitempty" doc:"For a deploy: its version, with the revision."`
}

// CensusSource says what was read from one source, such as a file, or from one collection
// in an archive of several.
type CensusSource struct {
	Name        string            `json:"name"`
	Collection  string            `json:"collection,omitempty" doc:"Name of the collection in an archive, with its database."`
	Collections int               `json:"collections,omitempty" doc:"For an archive: how many collections it has. Each of them is a further source, after this one."`
	Format      string            `json:"format" enum:"auto,bson,archive,json,csv,list,grep,table" doc:"Format in which the source was read; auto if it was not recognized, and table for a column of a database's table."`
	Unit        string            `json:"unit" doc:"What is counted: document, line or row."`
	Units       int64             `json:"units" doc:"How many documents, lines or rows were read."`
	IDs         int64             `json:"ids" doc:"How many ObjectIds are inside the time range."`
	Others      int64             `json:"others" doc:"How many values are not ObjectIds."`
	Without     int64             `json:"without_field" doc:"How many documents or rows lack the field."`
	Broken      int64             `json:"broken" doc:"How many documents or lines were skipped because they could not be read."`
	Problems    []UnreadablePlace `json:"problems,omitempty" doc:"What is wrong with the first broken documents or lines."`
	Error       string            `json:"error,omitempty" doc:"Where and why reading stopped before the end of the source."`
}

// Position is a document, line or row of a source.
type Position struct {
	Source     string `json:"source"`
	Collection string `json:"collection,omitempty"`
	Unit       string `json:"unit" doc:"What number counts: document, line or row."`
	Number     int64  `json:"number" doc:"From 1."`
}

// UnreadablePlace is a document or line that could not be read.
type UnreadablePlace struct {
	Position Position `json:"position"`
	Error    string   `json:"error"`
}

// OtherValues are the values of one type other than ObjectId.
type OtherValues struct {
	Type     string         `json:"type" doc:"Name of the type: a BSON type as MongoDB calls it, uuid, hex-string (a string of 24 hexadecimal digits), objectid-time (timestamp and date of an ObjectId, as Java writes them, without its other bytes), or text (in formats without types)."`
	Values   int64          `json:"values" doc:"How many there are."`
	Examples []ExampleValue `json:"examples" nullable:"false"`
}

// ExampleValue is a value that is not an ObjectId.
type ExampleValue struct {
	Position Position `json:"position"`
	Text     string   `json:"text" doc:"The value, cut if it is long."`
}

// Timeline counts the ids by creation time.
type Timeline struct {
	By      string   `json:"by" enum:"auto,minute,hour,day,week,month,year" doc:"Length of the buckets."`
	Zone    string   `json:"zone" doc:"Time zone in which days and longer buckets begin."`
	Buckets []Bucket `json:"buckets" nullable:"false" doc:"The counts in order of time. Each bucket ends where the next one starts."`
	Beyond  int64    `json:"beyond" doc:"How many ids are in no bucket, because they are from before 2009, from the future, or far from all other ids."`
}

// Bucket is one period of a timeline.
type Bucket struct {
	Start time.Time `json:"start" doc:"When the bucket begins, with the UTC offset of the timeline's zone."`
	IDs   int64     `json:"ids"`
}

// CensusProcess describes the ids that one process created. The ids have one process value.
// If the counter overflowed and continued in the next process value, they have several.
type CensusProcess struct {
	ProcessValue  string    `json:"process_value" doc:"The process value: ten hexadecimal digits."`
	Name          string    `json:"name,omitempty" doc:"Name of the recorded process with this value."`
	ProcessValues int       `json:"process_values" doc:"How many process values the process used."`
	IDs           int64     `json:"ids" doc:"How many different ids the process created."`
	First         time.Time `json:"first"`
	Last          time.Time `json:"last"`
	Gaps          *int64    `json:"gaps" doc:"How many counter values between the first and the last id of the process are not in the data. Null if shared or no_sequence is true."`
	Jumps         *int64    `json:"jumps" doc:"How many times the counter jumped by more than 2^20 from one id to the next. The counter values that a jump skips do not count as gaps. Null if gaps is null."`
	ClockStepped  bool      `json:"clock_stepped,omitempty" doc:"The clock of the process was set backwards."`
	Shared        bool      `json:"shared,omitempty" doc:"Several processes used the process value at the same time."`
	Resumed       bool      `json:"resumed,omitempty" doc:"A saved state of the process was resumed later, and repeated its counters."`
	NoSequence    bool      `json:"no_sequence,omitempty" doc:"The counters of the process do not count up: most of them do not continue another counter of the process."`
	Doubt         string    `json:"doubt,omitempty" doc:"Why it cannot be told whether the process has a fault: the kind of a doubt, which doubts explains. Absent if there is no doubt."`
	Timeline      []int64   `json:"timeline" nullable:"false" doc:"How many ids of the process are in each bucket of the timeline."`
}

// Finding is something in a census that deserves attention.
type Finding struct {
	Kind     string           `json:"kind" enum:"duplicate,shared-process-value,clock-step,resumed-state,no-sequence,value-per-id,no-time,future,too-early,bound,mixed-types"`
	Count    int64            `json:"count" doc:"How many ids, processes or values the finding concerns."`
	Counts   string           `json:"counts" example:"ids" doc:"What count counts: ids, processes or values."`
	Title    string           `json:"title" doc:"What was found."`
	Reason   string           `json:"reason" doc:"Why it matters, what may have caused it, and what to do."`
	Evidence string           `json:"evidence,omitempty" doc:"For a finding about processes: a sentence with the numbers of the most certain case."`
	Examples []FindingExample `json:"examples" nullable:"false" doc:"Some of the ids that the finding concerns."`
}

// Doubt is something that cannot be told: whether irregular counters of some processes are
// faults. A healthy process may also have such counters.
type Doubt struct {
	Kind      string           `json:"kind"`
	Processes int64            `json:"processes" doc:"How many processes the doubt concerns."`
	Reason    string           `json:"reason" doc:"What cannot be told, and why."`
	Examples  []FindingExample `json:"examples" nullable:"false" doc:"Examples of ids that some of these processes created."`
}

// FindingExample is an id that shows a finding or a doubt.
type FindingExample struct {
	// ID is a string because objectid.ID encodes the id of zeros as null.
	ID       string    `json:"id" doc:"The id, in 24 hexadecimal digits."`
	Time     time.Time `json:"time,omitzero" doc:"Creation time. Absent if the id holds none."`
	Position Position  `json:"position"`
	Note     string    `json:"note,omitempty" doc:"What the example shows."`
}

// Difference compares the ids of two collections, or of two states of one.
type Difference struct {
	Version int    `json:"version" doc:"Version of this format."`
	Field   string `json:"field" doc:"The field from which the ids were read."`
	A       Side   `json:"a"`
	B       Side   `json:"b"`
	BothIDs int64  `json:"both_ids" doc:"How many different ids are on both sides."`

	RetypedIDs int64 `json:"retyped_ids,omitempty" doc:"How many ids are ObjectIds on one side and strings of the same digits on the other. They do not count as being on both sides."`
}

// Side is one of the two sides that a [Difference] compares.
type Side struct {
	Sources     []CensusSource `json:"sources" nullable:"false"`
	DistinctIDs int64          `json:"distinct_ids" doc:"How many different ids are on this side."`

	OnlyIDs     int64            `json:"only_ids" doc:"How many different ids are only on this side."`
	First       *time.Time       `json:"first" doc:"Earliest creation time of the ids that are only on this side; null if there are none."`
	Last        *time.Time       `json:"last" doc:"Latest creation time of the ids that are only on this side; null if there are none."`
	Examples    []FindingExample `json:"examples" nullable:"false" doc:"Some of the ids that are only on this side."`
	OtherValues int64            `json:"other_values" doc:"How many values are not ObjectIds. They are not compared."`
}
