package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/internal/pure"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

type inspectInput struct {
	ID     string `path:"id" minLength:"1" maxLength:"200" example:"507f1f77bcf86cd799439011" doc:"The id, in any format that a reading can have."`
	Layout string `query:"layout" enum:"modern,classic,java" doc:"The layout of the ObjectId, if the caller knows it. Default: every layout is considered."`
	Trace  bool   `query:"trace" default:"true" doc:"Whether to look up the process that created the id."`
}

var inspectID = describe(tagIDs, "inspectID", "Inspect an id",
	"Returns when an id was created, what its bytes mean in each possible layout or format, and which process created it.",
	func(s *Server, ctx context.Context, in *inspectInput) (wire.Inspection, error) {
		var o inspect.Options
		if in.Layout != "" {
			o.Layout = new(towire.Layout(in.Layout))
		}
		out, err := s.inspect(ctx, in.ID, &o, in.Trace)
		if errors.Is(err, inspect.ErrUnknown) { // the id may be wrapped, as in ObjectId("...")
			if text, ok := onlyID(in.ID); ok {
				out, err = s.inspect(ctx, text, &o, in.Trace)
			}
		}
		return out, err
	}, http.StatusNotFound)

// onlyID returns the id in a text that has exactly one.
func onlyID(text string) (id string, ok bool) {
	n := 0
	for found, err := range inspect.Scan(strings.NewReader(text)) {
		if n++; n > 1 || err != nil {
			return "", false
		}
		id = found.Text
	}
	return id, n == 1
}

// inspect reads an id. If the id is an ObjectId and traced is set, it also looks up the
// process that created the id.
func (s *Server) inspect(ctx context.Context, id string, o *inspect.Options, traced bool) (wire.Inspection, error) {
	o.Now = s.options.Now
	report, err := inspect.Inspect(id, o)
	if err != nil {
		return wire.Inspection{}, err
	}
	out := pure.Inspection(report)
	if !traced || s.options.Open == nil {
		return out, nil
	}
	oid, err := objectid.Parse(report.ID)
	if err != nil || oid.IsZero() {
		return out, nil // it has another format, or is the id of zeros
	}
	found, err := s.trace(ctx, oid)
	if err != nil {
		out.TraceError = err.Error()
		return out, nil
	}
	found.Deploy, _ = askConnected(ctx, s.backend, "deploys", func(ctx context.Context, c *connected) (*registry.Deploy, error) {
		return c.tracer.Deploy(ctx, &found)
	})
	trace := towire.Trace(found)
	trace.Links = s.links.Of(&found)
	if trace.Classic != nil { // the registry knows the host in the id, which makes a reading likelier
		o.Hosts = []string{trace.Classic.Host}
		if report, err := inspect.Inspect(id, o); err == nil {
			out = pure.Inspection(report)
		}
	}
	out.Trace = &trace
	dropContradicted(&out)
	return out, nil
}

// dropContradicted removes the readings of an ObjectId that the registry contradicts. If a
// process owns the block of an id, the id has the modern layout.
func dropContradicted(in *wire.Inspection) {
	t := in.Trace
	if t == nil || t.Verdict != string(registry.Known) || len(t.Processes) != 1 || t.Processes[0].ProcessBlock == "" {
		return
	}
	modern := objectid.Modern.String()
	in.Readings = slices.DeleteFunc(in.Readings, func(r wire.Reading) bool { return r.Format == string(inspect.ObjectID) && r.Variant != modern })
}

// Bounds of the page.
const (
	traceTime    = 1500 * time.Millisecond // after which no further ids of a page are traced
	maxInspected = 100                     // results that are kept, see recent
)

func (s *Server) startPage(w http.ResponseWriter, r *http.Request) {
	s.showInspected(w, r, r.URL.Query().Get("id"))
}

// startForm redirects to a URL with the text, so that it can be shared. A text that is too
// long for a URL is answered at once.
func (s *Server) startForm(w http.ResponseWriter, r *http.Request) {
	text := strings.TrimSpace(r.PostForm.Get("id"))
	if len(text) <= page.MaxLink {
		http.Redirect(w, r, "/?id="+url.QueryEscape(text), http.StatusSeeOther)
		return
	}
	s.showInspected(w, r, text)
}

// showInspected answers with what is known of the ids in a text.
func (s *Server) showInspected(w http.ResponseWriter, r *http.Request, text string) {
	asked := time.Now()
	data, ok := s.inspected.get(text, asked)
	if !ok {
		data = s.inspectText(r.Context(), text)
		if len(data.Cards) == 1 && data.NoTrace == "" && len(text) <= page.MaxLink {
			s.site.PrepareStart(&data)
			s.inspected.put(text, data, asked, maxInspected)
		}
	}
	s.showStart(w, r, http.StatusOK, &data)
}

// inspectText returns what is known of the ids in a text.
func (s *Server) inspectText(ctx context.Context, text string) page.Start {
	deadline := s.options.Now().Add(traceTime)
	noTrace := ""
	data := page.Read(text, s.options.Now().UTC(), func(id string) (in page.Inspected, err error) {
		in.Inspection, err = s.inspect(ctx, id, &inspect.Options{}, noTrace == "")
		noTrace = cmp.Or(noTrace, in.TraceError)
		if noTrace == "" && s.options.Now().After(deadline) {
			noTrace = "the remaining ids were not looked up because it takes too long; inspect fewer ids at once"
		}
		addLoad(&in)
		return in, err
	})
	data.NoTrace = noTrace
	if len(data.Cards) == 1 {
		s.lookAround(ctx, &data.Cards[0])
	}
	return data
}

// showStart answers with the start page. If the client may create ids, the page has some.
func (s *Server) showStart(w http.ResponseWriter, r *http.Request, code int, data *page.Start) {
	if t := s.door.TokenOf(r); data.New == nil && (t == nil || !t.ReadOnly) {
		data.New, _ = page.NewIDs("", "", s.fill) // has no error: the number is the default
	}
	data.Now = s.overview(r.Context())
	s.show(w, r, code, s.site.Start(data))
}
