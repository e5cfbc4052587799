package server

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/oidkit/oid/server/door"
	"github.com/oidkit/oid/server/page"
)

// route is one kind of request: who may send it, what it costs, and how its answer is
// sent.
type route struct {
	method string // empty: all that have no row of their own
	path   string // a pattern of http.ServeMux
	access door.Access
	cost   door.Cost // nil: no slot and no memory; the handler reads the body itself, if it has one
	body   int64     // bound of the body in bytes; 0: Limits.Body
	cache  caching
	plain  bool // the answer is not compressed: it is short, random, or must not wait
	api    bool // an error is problem+json even for browsers

	do       http.HandlerFunc
	endpoint func(huma.API, route) // in place of do
}

// caching says how long clients may keep an answer with status 200.
type caching uint8

const (
	byHandler caching = iota // as the handler says
	validated                // as long as they ask whether it is still the same
)

// routes returns the table of all requests that the server answers. A GET is a HEAD, too.
func (s *Server) routes() []route {
	const member = "/v1/members/{member}"
	all := []route{
		{method: "GET", path: "/livez", access: door.Probe, plain: true, do: s.livez},
		{method: "GET", path: "/readyz", access: door.Probe, plain: true, do: s.readyz},
		{method: "GET", path: "/metrics", access: door.Read, cost: small, api: true, do: s.metrics.handler().ServeHTTP},

		{method: "POST", path: "/v1/ids", access: door.Write, cost: small, plain: true, api: true, endpoint: s.createIDs},
		{method: "GET", path: "/v1/ids/{id}", access: door.Read, cost: small, api: true, endpoint: s.inspectID},
		{method: "GET", path: "/v1/range", access: door.Read, cost: small, api: true, endpoint: s.rangeOf},
		{method: "POST", path: "/v1/processes", access: door.Write, cost: small, api: true, endpoint: s.registerProcess},
		{method: "GET", path: "/v1/processes", access: door.Read, cost: large, api: true, endpoint: s.listProcesses},
		{method: "GET", path: "/v1/processes/{gpid}", access: door.Read, cost: large, api: true, endpoint: s.getProcess},
		{method: "POST", path: "/v1/members/heartbeats", access: door.Write, cost: small, api: true, endpoint: s.sendHeartbeats},
		{method: "POST", path: member + "/heartbeats", access: door.Write, cost: small, api: true, endpoint: s.sendHeartbeat},
		{method: "POST", path: member + "/samples", access: door.Write, cost: small, api: true, endpoint: s.addSamples},
		{method: "DELETE", path: member, access: door.Write, cost: small, api: true, endpoint: s.endProcess},
		{method: "POST", path: "/v1/census", access: door.Read, api: true, endpoint: s.takeCensus},
		{method: "GET", path: "/v1/locks", access: door.Read, cost: small, api: true, endpoint: s.listLocks},
		{method: "GET", path: "/v1/locks/{name}", access: door.Read, cost: small, api: true, endpoint: s.getLock},
		{path: "/v1/", access: door.Read, cost: small, api: true, do: s.noEndpoint},

		{method: "GET", path: "/{$}", access: door.Read, cost: pasted, do: s.startPage},
		{method: "POST", path: "/{$}", access: door.Read, cost: pasted, do: s.startForm},
		{method: "GET", path: "/now", access: door.Read, cost: small, do: s.showNow},
		{method: "GET", path: "/events", access: door.Read, cost: small, plain: true, do: s.events},
		{method: "GET", path: "/new", access: door.Read, cost: small, do: redirect("/", http.StatusSeeOther)},
		{method: "POST", path: "/new", access: door.Write, cost: large, do: s.newForm},
		{method: "GET", path: "/range", access: door.Read, cost: small, do: s.showRange},
		{method: "GET", path: "/census", access: door.Read, cost: small, do: s.censusPage},
		{method: "POST", path: "/census", access: door.Read, do: s.censusForm},
		{method: "GET", path: "/census/{id}", access: door.Read, cost: small, cache: validated, do: s.showReport},
		{method: "GET", path: "/processes", access: door.Read, cost: large, do: s.showProcesses},
		{method: "GET", path: "/processes/{gpid}", access: door.Read, cost: large, do: s.showProcess},
		{method: "GET", path: "/about", access: door.Read, cost: small, do: s.showAbout},
		{method: "GET", path: "/login", access: door.Open, plain: true, do: s.showLogin},
		{method: "POST", path: "/login", access: door.Open, cost: small, body: loginBody, plain: true, do: s.logIn},
		{method: "POST", path: "/logout", access: door.Read, cost: small, do: s.logOut},
		{method: "GET", path: "/static/{tag}/{name}", access: door.Open, plain: true, do: serveAsset},
		{method: "GET", path: "/favicon.ico", access: door.Read, cost: small, do: redirect(page.Path("icon.svg"), http.StatusMovedPermanently)},
		{path: "/", access: door.Read, cost: small, do: s.noPage},
	}
	for _, description := range []string{".json", "-3.0.json", ".yaml", "-3.0.yaml"} { // package huma answers
		all = append(all, route{method: "GET", path: descriptionPath + description, access: door.Read, cost: small, cache: validated, api: true})
	}
	if s.options.OpenLocks != nil {
		all = append(all, route{method: "GET", path: "/locks", access: door.Read, cost: small, do: s.showLocks})
	}
	if base := s.door.Base(); base != "" { // without the slash at its end
		all = append(all, route{path: base, access: door.Open, plain: true, do: redirect("/", http.StatusPermanentRedirect)})
	}
	return all
}

// pattern returns the pattern of http.ServeMux for r.
func (r *route) pattern() string {
	if r.method == "" {
		return r.path
	}
	return r.method + " " + r.path
}

// redirect returns a handler that sends clients to a path of this server.
func redirect(to string, code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, code) }
}

// What requests take of the memory, found by measuring and rounded up.
const (
	baseMemory = 256 << 10 // with the buffers of the connection and the response
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
