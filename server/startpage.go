package server

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/paste"
	"github.com/oidkit/oid/server/page"
	"github.com/oidkit/oid/server/wire"
)

// Bounds of the page.
const (
	maxCards   = 6                       // ids with all their readings
	maxRows    = 5000                    // ids in all
	maxLink    = 4000                    // characters of a text that goes into a URL
	traceTime  = 1500 * time.Millisecond // for the traces of one page
	maxUnknown = 1000                    // process values remembered as unknown
	maxBad     = 100                     // messages about text that is not an id
)

func (s *Server) startPage(w http.ResponseWriter, r *http.Request) {
	s.showInspected(w, r, r.URL.Query().Get("id"))
}

// startForm sends a short text into the URL, which can then be shared.
func (s *Server) startForm(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.fail(w, r, requestf("the request cannot be read as a form: %w", err))
		return
	}
	text := r.PostForm.Get("id")
	if len(text) <= maxLink {
		http.Redirect(w, r, "/?id="+url.QueryEscape(strings.TrimSpace(text)), http.StatusSeeOther)
		return
	}
	s.showInspected(w, r, text)
}

func (s *Server) showInspected(w http.ResponseWriter, r *http.Request, text string) {
	data := page.Start{Text: text}
	deadline := s.options.Now().Add(traceTime)
	unknown := map[string]wire.Trace{} // by process value
	var found []page.Inspected
	var ignored []page.BadPiece
	for piece := range paste.ScanString(text) {
		if len(found) == maxRows {
			data.More++
			continue
		}
		err := piece.Err
		var in page.Inspected
		if err == nil {
			in.Before, in.After = piece.Before, piece.After
			in.Inspection, err = s.inspect(r.Context(), piece.Text, &inspect.Options{}, false)
		}
		if errors.Is(err, paste.ErrNoID) { // a line of a log, which matters only if there is nothing else
			if ignored == nil {
				ignored = []page.BadPiece{{Line: piece.Line, Error: err.Error()}}
			}
			continue
		}
		if err != nil {
			if len(data.Bad) < maxBad {
				data.Bad = append(data.Bad, page.BadPiece{Line: piece.Line, Error: err.Error()})
			}
			continue
		}
		if data.NoTrace == "" {
			in.Trace, err = s.pageTrace(r.Context(), in.ID, unknown)
			if err != nil {
				data.NoTrace = err.Error()
			} else if s.options.Now().After(deadline) {
				data.NoTrace = "further ids were not looked up, because it takes too long; inspect fewer ids at once"
			}
			addLoad(&in)
			dropContradicted(&in.Inspection)
		}
		found = append(found, in)
	}
	if len(found) == 0 && data.Bad == nil {
		data.Bad = ignored
	}
	if len(found) == 1 {
		s.lookAround(r.Context(), &found[0])
	}
	if len(found) <= maxCards {
		data.Cards = found
	} else {
		data.Rows = found
	}
	s.showStart(w, r, http.StatusOK, &data)
}

// showStart answers with the start page. Those who may create ids get some.
func (s *Server) showStart(w http.ResponseWriter, r *http.Request, code int, data *page.Start) {
	title := "Ids"
	if len(data.Cards) == 1 {
		title = data.Cards[0].ID
	}
	if t := s.door.TokenOf(r); data.New == nil && (t == nil || !t.ReadOnly) {
		data.New = &page.New{}
		_ = s.fillNew(data.New, strconv.Itoa(page.FewIDs)) // so few are always permitted
	}
	data.Now = s.overview(r.Context()).Overview
	s.show(w, r, code, title, "/", s.site.Start(data))
}
