package store

// Consistent returns s with the strongest guarantees that its engine has, for
// processes that coordinate through a store: a read sees every write that returned
// before, and a write that returned survives the loss of a server. What a URL says
// of this, to read from a replica that lags behind for example, is for other uses.
// An engine that always has these guarantees returns s itself. Closing the result
// closes s.
func Consistent(s Store) Store {
	if s, ok := s.(interface{ Consistent() Store }); ok {
		return s.Consistent()
	}
	return s
}
