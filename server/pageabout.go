package server

import (
	"net/http"
	"runtime"
)

// aboutView is what the view shows.
type aboutView struct {
	Origin  string // of this server, as the browser knows it
	Token   bool
	Example string
	Limits  Limits
	IDs     int64 // that one request may ask for
	GPID    string
	Store   string
	Go      string
}

func (s *Server) addAboutPage() {
	s.mux.HandleFunc("GET /about", func(w http.ResponseWriter, r *http.Request) {
		data := aboutView{
			Origin: "http://" + r.Host, Token: s.options.Token != "",
			Example: "507f1f77bcf86cd799439011",
			Limits:  s.options.Limits, IDs: int64(s.options.Limits.IDs), Go: runtime.Version(),
		}
		switch j := s.backend.joined.Load(); {
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
