package door

import (
	"cmp"
	"time"
)

// Limits bound what clients may use. A zero field means its default.
type Limits struct {
	Connections int   // open at the same time; beyond, the one that waits longest for its client is closed, or the new one. Default: 4096
	PerAddress  int   // connections from one address, or from one /64 of IPv6. Default: a quarter of Connections
	Requests    int   // worked on at the same time; more wait a moment. Default: 512, at most a quarter of Connections
	Memory      int64 // bytes that all requests and uploads together may take. Default: 1 GiB
	Uploads     int   // at the same time; more are refused. Default: 4
	Upload      int64 // bytes of one upload, as sent. Default: 4 GiB
	Unpacked    int64 // bytes of one upload after it was unpacked. Default: 64 GiB
	UploadIDs   int64 // ids in one upload; each takes 16 bytes of memory. Default: 20 million
	Body        int64 // bytes of any other request body. Default: 1 MiB
	IDs         int   // created by one request. Default and maximum: 10 million

	Header     time.Duration // to send the header of a request. Default: 10s
	Request    time.Duration // to send the body of a request that is not an upload. Default: 30s
	Response   time.Duration // to read a response, or each piece of one with ids, which must be read at 64 KiB/s. Default: 60s
	Idle       time.Duration // between two requests of a connection. Default: 2m
	UploadTime time.Duration // for one upload, which must also arrive at 16 KiB/s. Default: 1h
	Store      time.Duration // for the store to answer. Default: 5s
}

// maxIDs is the maximum in the description of the API.
const maxIDs = 10_000_000

// WithDefaults returns l with the defaults in place of its zero fields.
func (l Limits) WithDefaults() Limits {
	l.Connections = cmp.Or(l.Connections, 4096)
	l.PerAddress = cmp.Or(l.PerAddress, max(1, l.Connections/4))
	l.Requests = cmp.Or(l.Requests, 512)
	l.Requests = min(l.Requests, max(1, l.Connections/4)) // others can be closed for new ones
	l.Memory = cmp.Or(l.Memory, 1<<30)
	l.Unpacked = cmp.Or(l.Unpacked, 64<<30)
	l.Uploads = cmp.Or(l.Uploads, 4)
	l.Upload = cmp.Or(l.Upload, 4<<30)
	l.UploadIDs = cmp.Or(l.UploadIDs, 20_000_000)
	l.Body = cmp.Or(l.Body, 1<<20)
	l.IDs = cmp.Or(l.IDs, maxIDs)
	l.Header = cmp.Or(l.Header, 10*time.Second)
	l.Request = cmp.Or(l.Request, 30*time.Second)
	l.Response = cmp.Or(l.Response, time.Minute)
	l.Idle = cmp.Or(l.Idle, 2*time.Minute)
	l.UploadTime = cmp.Or(l.UploadTime, time.Hour)
	l.Store = cmp.Or(l.Store, 5*time.Second)
	l.IDs = min(l.IDs, maxIDs)
	return l
}
