package server

import (
	"net/http"
	"runtime"

	"github.com/oidkit/oid/server/page"
)

func (s *Server) showAbout(w http.ResponseWriter, r *http.Request) {
	limits := s.options.Limits
	data := page.About{
		Token: s.door.HasTokens(), Origin: s.door.URL(r), Go: runtime.Version(),
		IDs: int64(limits.IDs), Upload: limits.Upload, UploadIDs: limits.UploadIDs,
	}
	switch j := s.backend.connected.Load(); {
	case s.options.Open == nil:
		data.Store = errNoStore.Error()
	case j == nil:
		data.Store = errUnavailable.Error()
	default:
		data.GPID = j.member.GPID().String()
	}
	s.show(w, r, http.StatusOK, "About", "/about", s.site.About(&data))
}
