package door

import (
	"net/http"
	"net/url"
	"unicode/utf8"
)

// Access says who may use a route.
type Access uint8

// From the one that permits least.
const (
	Write Access = iota // tokens for everything
	Read                // tokens for reading as well
	Open                // all clients: the route reveals nothing and changes nothing
	Probe               // as Open, also under other host names: load balancers use their own
)

// Cost returns the memory that a request with a body of size bytes takes, in bytes, and
// whether it keeps a processor busy for long. A nil Cost is that of a request that takes
// neither a slot nor memory, and whose body is left to the handler.
type Cost func(r *http.Request, size int64) (memory int64, heavy bool)

// Policy says what a Door has to know about the route of a request.
type Policy struct {
	Access Access
	Cost   Cost
	// Body bounds the body, in bytes. 0: Limits.Body.
	Body int64
}

// Enter checks r and takes what its handler needs: memory, and a slot until the
// response is sent. It reads the body first, so that a client that sends slowly holds
// no slot. done gives back what was taken; it must be called after a nil error. The
// error is one of this package, see [ErrBadBody], or a [*WaitError].
func (d *Door) Enter(w *Recorder, r *http.Request, p Policy) (done func(), err error) {
	switch err := d.checkOrigin(r, p.Access == Probe); {
	case err != nil:
		return nil, err
	case !wellFormed(r.URL.RawQuery):
		return nil, ErrQuery
	}
	if p.Access < Open {
		if err := d.authorize(r, p.Access); err != nil {
			return nil, err
		}
	}
	if d.crossOrigin.Check(r) != nil {
		return nil, ErrOrigin
	}
	if p.Cost == nil {
		return connectionOf(r).work(), nil
	}
	return d.admit(w, r, p)
}

// wellFormed reports whether all of a query can be read. net/url would silently skip
// the rest, and a range that lost its bound would cover everything.
func wellFormed(query string) bool {
	if query == "" {
		return true
	}
	values, err := url.ParseQuery(query)
	for key, all := range values {
		for _, value := range append(all, key) {
			if !utf8.ValidString(value) {
				return false
			}
		}
	}
	return err == nil
}
