package wire

import "time"

// CensusVersion is the value of Version in [Census] and [Difference]. It increases when
// a field is removed or changes its meaning.
const CensusVersion = 2

// Census is the analysis of all ids of one or more sources.
type Census struct {
	Version int `json:"version" doc:"Version of this format."`
	CollectionCensus
	Collections []CollectionCensus `json:"collections,omitempty" doc:"The analysis of each collection, if there are several. It has the timeline, processes and findings."`
}

// CollectionCensus is the analysis of one collection, or a summary of several.
type CollectionCensus struct {
	Collection    string         `json:"collection,omitempty" doc:"Name of the collection, with its database; absent if there are several, or no source names it."`
	Field         string         `json:"field" doc:"The field that was read."`
	ReferenceTime time.Time      `json:"reference_time" doc:"Later ids count as future."`
	Sources       []CensusSource `json:"sources" nullable:"false" doc:"The sources that were read, in the order given."`

	IDs          int64         `json:"ids" doc:"ObjectIds counted."`
	DistinctIDs  int64         `json:"distinct_ids" doc:"Different ids."`
	RepeatedIDs  int64         `json:"repeated_ids" doc:"Different ids that occur more than once."`
	OutsideIDs   int64         `json:"outside_ids" doc:"Ids outside the range, which are not counted."`
	Others       []OtherValues `json:"others" nullable:"false" doc:"Values that are not ObjectIds, by type, most frequent first."`
	WithoutField int64         `json:"without_field" doc:"Documents or rows that lack the field."`

	First    *time.Time `json:"first" doc:"Earliest creation time that is neither before 2009 nor in the future; null if there is none."`
	Last     *time.Time `json:"last" doc:"Latest creation time that is neither before 2009 nor in the future; null if there is none."`
	Timeline Timeline   `json:"timeline" doc:"When the ids were created."`

	Processes    int64           `json:"processes" doc:"How many processes created the ids, by process values and counters."`
	Gaps         int64           `json:"gaps" doc:"Sum of the gaps of all processes."`
	TopProcesses []CensusProcess `json:"top_processes" nullable:"false" doc:"The processes with the most ids."`

	Doubts []Doubt `json:"doubts" nullable:"false" doc:"Breaks in counters that may or may not be faults, by kind."`

	Events []Event `json:"events" nullable:"false" doc:"What happened, in order of time."`

	ShortestOutageBusy  *float64 `json:"shortest_outage_busy_seconds" doc:"The shortest silence in the busiest hours of the week that is not chance; null if that is not known."`
	ShortestOutageQuiet *float64 `json:"shortest_outage_quiet_seconds" doc:"The shortest silence in the quietest hours of the week that is not chance; null if that is not known."`

	Findings []Finding `json:"findings" nullable:"false" doc:"What deserves attention."`
}

// Event is something that happened in the life of a collection.
type Event struct {
	Kind         string    `json:"kind" doc:"outage, import, deletion, clock-step, shared-process-value, resumed-state or no-sequence."`
	Start        time.Time `json:"start"`
	End          time.Time `json:"end"`
	IDs          int64     `json:"ids,omitempty" doc:"Ids of an import, missing ids of a deletion, or ids that are usual in the time of an outage."`
	StepSeconds  int64     `json:"step_seconds,omitempty" doc:"By how much a clock step set the clock backwards."`
	Share        float64   `json:"share,omitempty" doc:"The share of the ids created then that a deletion removed, from 0 to 1."`
	ProcessValue string    `json:"process_value,omitempty"`
	Usual        string    `json:"usual,omitempty" doc:"How many other days or periods have ids in the time of an outage."`
	Confidence   string    `json:"confidence" doc:"certain, likely or possible."`
}

// CensusSource counts the content of one source, or of one collection of an archive.
type CensusSource struct {
	Name        string            `json:"name"`
	Collection  string            `json:"collection,omitempty" doc:"Collection of an archive, with its database."`
	Collections int               `json:"collections,omitempty" doc:"How many collections of this archive follow as sources of their own."`
	Format      string            `json:"format" enum:"auto,bson,archive,json,csv,list,grep" doc:"How the source was read; auto if its format was not recognized."`
	Unit        string            `json:"unit" doc:"What is counted: document, line or row."`
	Units       int64             `json:"units" doc:"How many of them were read."`
	IDs         int64             `json:"ids" doc:"ObjectIds inside the range."`
	Others      int64             `json:"others" doc:"Values of other types."`
	Without     int64             `json:"without_field" doc:"Documents or rows that lack the field."`
	Broken      int64             `json:"broken" doc:"Documents or lines that could not be read and were skipped."`
	Problems    []UnreadablePlace `json:"problems,omitempty" doc:"What is wrong with the first broken documents or lines."`
	Error       string            `json:"error,omitempty" doc:"Where and why reading stopped before the end of the source."`
}

// Position is where in a source something is.
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

// OtherValues are the values of one type that is not ObjectId.
type OtherValues struct {
	Type     string         `json:"type" doc:"MongoDB's name of the BSON type; or uuid; or hex-string, a string of 24 hexadecimal digits; or text, in formats without types."`
	Values   int64          `json:"values" doc:"How many there are."`
	Examples []ExampleValue `json:"examples" nullable:"false"`
}

// ExampleValue is a value that is not an ObjectId.
type ExampleValue struct {
	Position Position `json:"position"`
	Text     string   `json:"text" doc:"The value, cut if it is long."`
}

// Timeline is the number of ids over creation time.
type Timeline struct {
	By      string   `json:"by" enum:"auto,minute,hour,day,week,month,year" doc:"Length of the buckets."`
	Zone    string   `json:"zone" doc:"Time zone in which days and longer buckets begin."`
	Buckets []Bucket `json:"buckets" nullable:"false" doc:"Each ends where the next one starts."`
	Beyond  int64    `json:"beyond" doc:"Ids in no bucket: from before 2009, from the future, or far from all others."`
}

// Bucket is one stretch of a timeline.
type Bucket struct {
	Start time.Time `json:"start" doc:"With the offset of the timeline's zone."`
	IDs   int64     `json:"ids"`
}

// CensusProcess describes the ids of one process: those with one process value, or with
// several if a counter continues from one into the next.
type CensusProcess struct {
	ProcessValue  string    `json:"process_value" doc:"Ten hexadecimal digits."`
	Name          string    `json:"name,omitempty" doc:"Name of the registered process with this value."`
	ProcessValues int       `json:"process_values" doc:"How many process values it used."`
	IDs           int64     `json:"ids" doc:"Different ids."`
	First         time.Time `json:"first"`
	Last          time.Time `json:"last"`
	Gaps          *int64    `json:"gaps" doc:"Counter values between its first and last id that are not in the data; null if the process value is shared, or its counters follow no sequence."`
	Jumps         *int64    `json:"jumps" doc:"Steps of the counter of more than 2^20, which are not in gaps; null if gaps is null."`
	ClockStepped  bool      `json:"clock_stepped,omitempty" doc:"Its clock was set backwards."`
	Shared        bool      `json:"shared,omitempty" doc:"Several processes used the process value at the same time."`
	Resumed       bool      `json:"resumed,omitempty" doc:"A saved state of the process was resumed later, with the same counters."`
	NoSequence    bool      `json:"no_sequence,omitempty" doc:"Most of its counters follow no other."`
	Doubt         string    `json:"doubt,omitempty" doc:"Kind of the doubt whether there is another fault."`
	Timeline      []int64   `json:"timeline" nullable:"false" doc:"Its ids in each bucket of the timeline."`
}

// Finding is something in a census that deserves attention.
type Finding struct {
	Kind     string           `json:"kind" enum:"duplicate,shared-process-value,clock-step,resumed-state,no-sequence,value-per-id,future,too-early,bound,mixed-types"`
	Count    int64            `json:"count" doc:"How many ids, processes or values are concerned."`
	Counts   string           `json:"counts" example:"ids" doc:"What is counted: ids, processes or values."`
	Title    string           `json:"title" doc:"What was found."`
	Reason   string           `json:"reason" doc:"Why it matters, what may have caused it, and what to do."`
	Evidence string           `json:"evidence,omitempty" doc:"The numbers of the process that shows a finding about processes most clearly."`
	Examples []FindingExample `json:"examples" nullable:"false" doc:"Some of the ids concerned."`
}

// Doubt is about breaks in the counters of some processes, which may be faults or occur in
// the life of a healthy process.
type Doubt struct {
	Kind      string           `json:"kind"`
	Processes int64            `json:"processes"`
	Reason    string           `json:"reason" doc:"What cannot be told, and why."`
	Examples  []FindingExample `json:"examples" nullable:"false" doc:"Ids of some of the processes."`
}

// FindingExample is an id that shows a finding.
type FindingExample struct {
	// ID has 24 digits: a string, because objectid.ID writes the id of zeros as null.
	ID       string    `json:"id" doc:"The id, in 24 hexadecimal digits."`
	Time     time.Time `json:"time" doc:"Creation time."`
	Position Position  `json:"position"`
	Note     string    `json:"note,omitempty" doc:"What the example shows."`
}

// Difference is the comparison of two censuses.
type Difference struct {
	Version int    `json:"version" doc:"Version of this format."`
	Field   string `json:"field" doc:"The field that was read."`
	A       Side   `json:"a"`
	B       Side   `json:"b"`
	BothIDs int64  `json:"both_ids" doc:"Different ids on both sides."`
}

// Side is one side of a difference.
type Side struct {
	Sources     []CensusSource `json:"sources" nullable:"false"`
	DistinctIDs int64          `json:"distinct_ids" doc:"Different ids."`

	OnlyIDs     int64            `json:"only_ids" doc:"Different ids that are not on the other side."`
	First       *time.Time       `json:"first" doc:"Earliest creation time of these ids; null if there are none."`
	Last        *time.Time       `json:"last" doc:"Latest creation time of these ids; null if there are none."`
	Examples    []FindingExample `json:"examples" nullable:"false" doc:"Some of these ids."`
	OtherValues int64            `json:"other_values" doc:"Values of other types, which are not compared."`
}
