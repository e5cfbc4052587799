package server

import (
	"net/http"
	"strings"

	"github.com/oidkit/oid/server/door"
)

// What requests take of the memory, found by measuring and rounded up.
const (
	baseMemory = 256 << 10 // with the buffers of the connection and the response
	listMemory = 4 << 20   // answers that list processes or samples
	bodyFactor = 8         // copies of a body while it is decoded
	rowMemory  = 2 << 10   // an id in the table of the page
	heavyFrom  = 2 << 20   // requests that decode or show more also keep a processor busy
)

// memoryOf estimates the memory that a request with a body of size bytes takes, and
// reports whether it keeps a processor busy for long.
func memoryOf(r *http.Request, size int64) (need int64, heavy bool) {
	need = baseMemory + bodyFactor*size
	if r.URL.Path == "/" {
		text := size + int64(len(r.URL.RawQuery))
		need += min(text/24, maxRows) * rowMemory
	}
	heavy = need > heavyFrom
	if r.URL.Path == "/new" {
		need += listMemory // the ids as text, and the page with it
	}
	if r.Method == http.MethodGet && (strings.HasPrefix(r.URL.Path, "/v1/processes") || strings.HasPrefix(r.URL.Path, "/processes")) {
		need += listMemory
	}
	return need, heavy
}

// policyOf returns the policy of the route of r.
func policyOf(r *http.Request) door.Policy {
	p := door.Policy{Access: door.Write, Cost: memoryOf}
	switch {
	case isHealth(r.URL.Path):
		p = door.Policy{Access: door.Probe}
	case r.URL.Path == "/login" && r.Method == http.MethodPost:
		p = door.Policy{Access: door.Open, Cost: memoryOf, Body: loginBody}
	case isOpen(r.URL.Path):
		p = door.Policy{Access: door.Open}
	case isUpload(r):
		p = door.Policy{Access: door.Read}
	case r.Method == http.MethodGet || r.Method == http.MethodHead, r.Method == http.MethodPost && (r.URL.Path == "/" || r.URL.Path == "/logout"):
		// Inspecting a long text changes nothing.
		p.Access = door.Read
	}
	return p
}

func isHealth(path string) bool { return path == "/livez" || path == "/readyz" }
