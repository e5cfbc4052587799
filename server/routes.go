package server

import (
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/oidkit/oid/server/internal/door"
	"github.com/oidkit/oid/server/internal/page"
)

// route is one kind of request: who may send it, what it costs, and how its answer is
// sent.
type route struct {
	method string // empty: all that have no row of their own
	path   string // a pattern of http.ServeMux
	door.Policy
	plain bool // the answer is not compressed: it is short, random, or must not wait
	api   bool // an error is problem+json even for browsers

	do       http.HandlerFunc
	endpoint endpoint // in place of do
}

// routes returns the table of all requests that the server answers. A GET is a HEAD, too.
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
	if base := s.door.Base(); base != "" { // without the slash at its end
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

// What requests take of the memory, found by measuring and rounded up.
const (
	baseMemory = 448 << 10 // with the buffers of the connection and the response, which may be page.MaxIDs ids
	listMemory = 4 << 20   // answers with many processes, samples or ids
	bodyFactor = 8         // copies of a body while it is decoded
	rowMemory  = 2 << 10   // an id in the table of the page
	heavyFrom  = 2 << 20   // requests that decode or show more also keep a processor busy
)

// small is the cost of most requests.
func small(_ *http.Request, size int64) (memory int64, heavy bool) {
	memory = baseMemory + bodyFactor*size
	return memory, memory > heavyFrom
}

// large is the cost of requests with long answers.
func large(r *http.Request, size int64) (memory int64, heavy bool) {
	memory, heavy = small(r, size)
	return memory + listMemory, heavy
}

// pasted is the cost of the page with the ids of a text.
func pasted(r *http.Request, size int64) (memory int64, heavy bool) {
	memory, _ = small(r, size)
	memory += min((size+int64(len(r.URL.RawQuery)))/24, maxRows) * rowMemory
	return memory, memory > heavyFrom
}
