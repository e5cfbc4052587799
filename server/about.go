package server

import (
	"net/http"
	"runtime"
)

// aboutView is the data of the page.
type aboutView struct {
	Token  bool
	Calls  []apiCall
	Limits Limits
	IDs    int64 // that one request may ask for
	GPID   string
	Store  string // what is wrong with it
	Go     string
}

// apiCall is an example of the API.
type apiCall struct {
	Title, About, Command string
}

func (s *Server) addAbout() {
	s.mux.HandleFunc("GET /about", func(w http.ResponseWriter, r *http.Request) {
		data := aboutView{
			Token: s.options.Token != "", Calls: apiCalls("http://" + r.Host),
			Limits: s.options.Limits, IDs: int64(s.options.Limits.IDs), Go: runtime.Version(),
		}
		switch j := s.backend.connected.Load(); {
		case s.options.Open == nil:
			data.Store = errNoStore.Error()
		case j == nil:
			data.Store = errUnavailable.Error()
		default:
			data.GPID = j.member.GPID().String()
		}
		s.show(w, r, http.StatusOK, "about", "About", "/about", data)
	})
}

// apiCalls returns an example for each kind of request. origin is the URL of the
// server as the browser sees it.
func apiCalls(origin string) []apiCall {
	v1 := "curl " + origin + "/v1"
	return []apiCall{
		{"Create ids", "JSON, text, or 12 bytes each", v1 + `/ids -H 'Content-Type: application/json' -H 'Accept: text/plain' -d '{"count": 3}'`},
		{"Inspect and trace", "one id", v1 + "/ids/507f1f77bcf86cd799439011"},
		{"Time range", "bounds and queries", "curl '" + origin + "/v1/range?since=24h'"},
		{"Register", "get a process block; then send heartbeats", v1 + `/processes -H 'Content-Type: application/json' -d '{"name": "shop", "pid": 4711}'`},
		{"Census", "of a dump", v1 + "/census -H 'Content-Type: application/octet-stream' -T orders.bson -X POST"},
	}
}
