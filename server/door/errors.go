package door

import (
	"errors"
	"fmt"
	"time"
)

// Errors about requests. Their texts are for clients.
var (
	ErrBadBody  = errors.New("the body of the request ends early, or its chunks are malformed")
	ErrBase     = errors.New("this server is reached by another name, that of its --base-url")
	ErrBusy     = errors.New("the server is busy; try again in a moment")
	ErrHost     = errors.New("this server answers requests for localhost only; to reach it by another name, start it with --base-url and --token-file")
	ErrLongBody = errors.New("the request is larger than this server accepts; send less at once, or use the command \"oid\", which has no limit")
	ErrMemory   = errors.New("the server has no memory left for this request; try again in a moment, or send less at once")
	ErrNoToken  = errors.New("the server requires its token; send the header Authorization: Bearer TOKEN")
	ErrOrigin   = errors.New("the request comes from a page of another origin")
	ErrProxied  = errors.New("this server has no token: start it with --token-file, and with --base-url and --trusted-proxy for the proxy")
	ErrQuery    = errors.New("the query of the URL is malformed: want parameters in UTF-8, separated by &, and two hexadecimal digits after each %")
	ErrReadOnly = errors.New("this request needs another")
	ErrSlowBody = errors.New("the body of the request was too slow")
	ErrSlowest  = errors.New("the upload was slow, and others wait for its place; send it again later")
	ErrStopping = errors.New("the server is stopping; send the request again in a moment")
	ErrTooLarge = errors.New("the upload is larger than this server accepts; the command \"oid census\" has no limit")
	ErrTooSlow  = errors.New("the upload was too slow")
	ErrUnpacked = errors.New("the upload unpacks to more than this server accepts; the command \"oid census\" has no limit")
)

// WaitError is the error for a token that is not looked at, because wrong ones came
// from its address. Its text is for clients.
type WaitError struct {
	Wait time.Duration // until the next one is looked at
}

// Error implements error.
func (e *WaitError) Error() string {
	return fmt.Sprintf("wrong tokens came from this address; wait %d s before the next", e.Seconds())
}

// Seconds returns Wait for a Retry-After header, rounded up.
func (e *WaitError) Seconds() int { return int((e.Wait + time.Second - 1) / time.Second) }
