package wire

// Odds are the chances of a collision among a number of processes.
type Odds struct {
	Processes   float64 `json:"processes"`
	Layout      string  `json:"layout,omitempty" doc:"Layout of their ids: driver or classic; absent for modern."`
	IDsEach     float64 `json:"ids_per_second" doc:"Ids that each process creates in a second."`
	OverSeconds float64 `json:"over_seconds" doc:"How long they run together."`
	SharedValue float64 `json:"shared_value" doc:"Chance that two of them have the same process value."`
	RepeatedID  float64 `json:"repeated_id" doc:"Chance that two of them create the same id."`
}

// Version describes a build of the command.
type Version struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// Collection is a collection of a store.
type Collection struct {
	Collection string `json:"collection"`
}

// Deleted is how many documents were deleted.
type Deleted struct {
	Documents int64 `json:"deleted"`
}
