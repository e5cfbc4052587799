package wire

// Odds are the chances that processes which draw their process values at random collide.
// Chances are from 0 to 1.
type Odds struct {
	Processes   float64 `json:"processes"`
	Layout      string  `json:"layout,omitempty" doc:"Layout of the ids: driver. Absent for the layout modern."`
	IDsEach     float64 `json:"ids_per_second" doc:"Ids that each process creates per second."`
	OverSeconds float64 `json:"over_seconds" doc:"How long the processes run at the same time."`
	SharedValue float64 `json:"shared_value" doc:"Chance that two of the processes have the same process value."`
	RepeatedID  float64 `json:"repeated_id" doc:"Chance that two of the processes create the same id."`
}

// Collection names a collection of a store.
type Collection struct {
	Collection string `json:"collection"`
}

// Deleted is the number of documents that a command has deleted.
type Deleted struct {
	Documents int64 `json:"documents"`
}
