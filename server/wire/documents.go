package wire

// Collection is a collection of a store.
type Collection struct {
	Collection string `json:"collection"`
}

// Deleted is how many documents were deleted.
type Deleted struct {
	Documents int64 `json:"deleted"`
}
