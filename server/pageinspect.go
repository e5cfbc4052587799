package server

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

// Bounds of what the page shows at once.
const (
	maxCards   = 6                       // ids that are shown with everything
	maxRows    = 5000                    // ids that are shown at all
	maxLink    = 4000                    // characters of a text that goes into a URL
	traceTime  = 1500 * time.Millisecond // for the traces of one page
	maxUnknown = 1000                    // process values remembered to be unknown
)

// inspectView is what the view shows.
type inspectView struct {
	Text    string // as it was pasted
	Cards   []inspected
	Rows    []inspected
	Bad     []badPiece
	More    int // further ids that are not shown
	NoTrace string
	Example string
}

// inspected is one id.
type inspected struct {
	wire.Inspection
	Before, After string
	Maker         *maker
}

// maker is what the page says about who made an id.
type maker struct {
	Verdict registry.Verdict
	Reason  string
	Name    string
	GPID    string
	Process *registry.Status
	Trace   *registry.Trace
}

// badPiece is a part of the text that is no id.
type badPiece struct {
	Line  int
	Error string
}

func (s *Server) addInspectPage() {
	s.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		s.showInspected(w, r, r.URL.Query().Get("id"))
	})
	// A form: a text that is short goes into the URL, which can then be shared.
	s.mux.HandleFunc("POST /{$}", func(w http.ResponseWriter, r *http.Request) {
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
	})
}

func (s *Server) showInspected(w http.ResponseWriter, r *http.Request, text string) {
	data := inspectView{Text: text, Example: s.backend.generator().New().String()}
	deadline := s.options.Now().Add(traceTime)
	unknown := map[string]bool{} // process values that nobody recorded
	var found []inspected
	for piece := range inspect.ScanString(text) {
		if len(found) == maxRows {
			data.More++
			continue
		}
		err := piece.Err
		var in inspected
		if err == nil {
			in.Before, in.After = piece.Before, piece.After
			in.Inspection, err = s.inspect(r.Context(), piece.Text, &inspect.Options{}, false)
		}
		if err != nil {
			if len(data.Bad) < 100 {
				data.Bad = append(data.Bad, badPiece{piece.Line, err.Error()})
			}
			continue
		}
		if data.NoTrace == "" {
			in.Maker, err = s.maker(r, in.ID, unknown)
			if err != nil {
				data.NoTrace = err.Error()
			} else if s.options.Now().After(deadline) {
				data.NoTrace = "who made the others was not looked up, since the page would take too long"
			}
		}
		found = append(found, in)
	}
	if len(found) <= maxCards {
		data.Cards = found
	} else {
		data.Rows = found
	}
	title := "Inspect"
	if len(found) == 1 {
		title = found[0].ID
	}
	s.show(w, r, http.StatusOK, "inspect", title, "/", data)
}

// maker asks the registry who made an id, nil for one that is no ObjectId. It
// remembers in unknown what need not be asked again.
func (s *Server) maker(r *http.Request, text string, unknown map[string]bool) (*maker, error) {
	id, err := objectid.Parse(text)
	if err != nil {
		return nil, nil // of another format
	}
	value := text[8:18]
	if unknown[value] {
		return &maker{Verdict: registry.Unknown, Reason: "no process recorded its process value"}, nil
	}
	t, err := s.trace(r.Context(), id)
	if errors.Is(err, errNoStore) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := &maker{Verdict: t.Verdict, Reason: t.Reason, Trace: &t}
	if t.Verdict == registry.Unknown && len(unknown) < maxUnknown {
		unknown[value] = true
	}
	if len(t.Processes) > 0 {
		m.Process = &t.Processes[0]
		m.GPID = m.Process.GPID.String()
		m.Name = m.Process.Name
	}
	return m, nil
}
