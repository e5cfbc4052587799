package server

import (
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/server/internal/door"
)

// route is one kind of request: who may send it, what it costs, and how it is answered.
type route struct {
	method string // empty: all methods that have no route of their own
	path   string // a pattern of http.ServeMux
	door.Policy
	plain bool // the answer is not compressed, because it is short, random, or must not wait
	api   bool // errors are problem+json, even for browsers

	do       http.HandlerFunc
	endpoint endpoint // instead of do
}

// routes returns the table of all requests that the server answers. A GET route also
// answers HEAD.
func (s *Server) routes() []route {
	const member = "/v1/members/{member}"
	probe, open := door.Policy{Access: door.Probe}, door.Policy{Access: door.Open}
	read := func(cost door.Cost) door.Policy { return door.Policy{Access: door.Read, Cost: cost} }
	write := func(cost door.Cost) door.Policy { return door.Policy{Access: door.Write, Cost: cost} }
	all := []route{
		{method: "GET", path: "/livez", Policy: probe, plain: true, do: s.livez},
		{method: "GET", path: "/readyz", Policy: probe, plain: true, do: s.readyz},
		{method: "GET", path: "/metrics", Policy: read(small), api: true, do: promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}).ServeHTTP},

		{method: "POST", path: "/v1/ids", Policy: write(small), plain: true, api: true, endpoint: (*Server).createIDs},
		{method: "GET", path: "/v1/ids/{id}", Policy: read(small), api: true, endpoint: inspectID},
		{method: "GET", path: "/v1/range", Policy: read(small), api: true, endpoint: rangeOf},
		{method: "POST", path: "/v1/processes", Policy: write(small), api: true, endpoint: (*Server).registerProcess},
		{method: "GET", path: "/v1/processes", Policy: read(large), api: true, endpoint: listProcesses},
		{method: "GET", path: "/v1/processes/{gpid}", Policy: read(large), api: true, endpoint: getProcess},
		{method: "DELETE", path: "/v1/members/heartbeats", Policy: read(small), api: true, do: s.noEndpoint}, // it is no member
		{method: "POST", path: "/v1/members/heartbeats", Policy: write(small), api: true, endpoint: sendHeartbeats},
		{method: "POST", path: member + "/heartbeats", Policy: write(small), api: true, endpoint: sendHeartbeat},
		{method: "POST", path: member + "/evidence", Policy: write(small), api: true, endpoint: addEvidence},
		{method: "DELETE", path: member, Policy: write(small), api: true, endpoint: endProcess},
		{method: "POST", path: "/v1/census", Policy: read(nil), api: true, endpoint: (*Server).takeCensus},
		{method: "GET", path: "/v1/locks", Policy: read(small), api: true, endpoint: listLocks},
		{method: "GET", path: "/v1/locks/{name}", Policy: read(small), api: true, endpoint: getLock},
		{path: "/v1/", Policy: read(small), api: true, do: s.noEndpoint},

		{method: "GET", path: "/{$}", Policy: read(pasted), do: s.startPage},
		{method: "POST", path: "/{$}", Policy: read(pasted), do: s.form(s.startForm)},
		{method: "GET", path: "/now", Policy: read(small), do: s.showNow},
		{method: "GET", path: "/new", Policy: read(small), do: redirect("/", http.StatusSeeOther)},
		{method: "POST", path: "/new", Policy: write(large), do: s.form(s.newForm)},
		{method: "GET", path: "/range", Policy: read(small), do: s.showRange},
		{method: "GET", path: "/odds", Policy: read(small), do: s.showOdds},
		{method: "GET", path: "/census", Policy: read(small), do: s.censusPage},
		{method: "POST", path: "/census", Policy: read(nil), do: s.censusForm},
		{method: "GET", path: "/processes", Policy: read(large), do: s.showProcesses},
		{method: "GET", path: "/processes/{gpid}", Policy: read(large), do: s.showProcess},
		{method: "GET", path: "/login", Policy: open, plain: true, do: s.showLogin},
		{method: "POST", path: "/login", Policy: door.Policy{Access: door.Open, Cost: small, Body: loginBody}, plain: true, do: s.form(s.logIn)},
		{method: "POST", path: "/logout", Policy: read(small), do: s.logOut},
		{method: "GET", path: "/static/{tag}/{name}", Policy: open, plain: true, do: serveAsset},
		{method: "GET", path: "/favicon.ico", Policy: read(small), do: redirect(page.Path("icon.svg"), http.StatusMovedPermanently)},
		{path: "/", Policy: read(small), do: s.noPage},
	}
	for _, extension := range []string{".json", "-3.0.json", ".yaml", "-3.0.yaml"} { // package huma answers
		all = append(all, route{method: "GET", path: descriptionPath + extension, Policy: read(small), api: true})
	}
	if s.options.OpenLocks != nil {
		all = append(all, route{method: "GET", path: "/locks", Policy: read(small), do: s.showLocks})
	}
	if base := s.door.Base(); base != "" { // the base path without a slash at its end
		all = append(all, route{path: base, Policy: open, plain: true, do: redirect("/", http.StatusPermanentRedirect)})
	}
	return all
}

// pattern returns the pattern of http.ServeMux for r.
func (r *route) pattern() string { return strings.TrimSpace(r.method + " " + r.path) }

// redirect returns a handler that sends clients to a path of this server.
func redirect(to string, code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, code) }
}

// The memory that requests take in bytes, measured and rounded up.
const (
	baseMemory = 448 << 10 // of any request, with the buffers of its connection and response, which may have page.MaxIDs ids
	listMemory = 4 << 20   // of an answer with many processes, samples or ids
	bodyFactor = 8         // per byte of the body, while it is decoded
	rowMemory  = 2 << 10   // per id in the table of the page
	heavyFrom  = 2 << 20   // a request that takes more is heavy: it keeps a processor busy
)

// small is the cost of a request with a short answer.
func small(_ *http.Request, size int64) (memory int64, heavy bool) {
	memory = baseMemory + bodyFactor*size
	return memory, memory > heavyFrom
}

// large is the cost of a request with a long answer.
func large(r *http.Request, size int64) (memory int64, heavy bool) {
	memory, heavy = small(r, size)
	return memory + listMemory, heavy
}

// pasted is the cost of the page that shows the ids of a text.
func pasted(r *http.Request, size int64) (memory int64, heavy bool) {
	memory, _ = small(r, size)
	memory += min((size+int64(len(r.URL.RawQuery)))/24, page.MaxRows) * rowMemory
	return memory, memory > heavyFrom
}
