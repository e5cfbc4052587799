package server

import (
	"cmp"
	"context"
	"encoding/binary"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/internal/pure"
	"github.com/oidkit/oid/internal/timerange"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// idForm is a form in which new ids are sent.
type idForm struct {
	mediaType     string
	open, close   string // the beginning and the end of the answer
	digits        bool   // each id is sent as 24 hexadecimal digits, otherwise as 12 bytes
	before, after string // the text around the digits of each id
	between       int    // how many bytes at the end of after are left out after the last id
}

// idForms are all forms. The first is the default.
var idForms = []*idForm{
	{"application/json", `{"ids":[`, "]}\n", true, `"`, `",`, 1},
	{"text/plain", "", "", true, "", "\n", 0},
	{"application/octet-stream", "", "", false, "", "", 0},
}

// each returns the length of one id in bytes.
func (f *idForm) each() int {
	if !f.digits {
		return objectid.Size
	}
	return len(f.before) + 2*objectid.Size + len(f.after)
}

const (
	sharedBytes = objectid.Size - 1 // all but the last byte of an id mostly equal those of the id before
	unitSize    = 32                // bytes that the processor copies at once; an id in any form has fewer
)

// appendTo appends an answer with ids to b.
func (f *idForm) appendTo(b []byte, ids []objectid.ID) []byte {
	b = append(b, f.open...)
	if !f.digits {
		for i := range ids {
			b = append(b, ids[i][:]...)
		}
		return b
	}
	const digits = "0123456789abcdef"
	each, last := f.each(), len(f.before)+2*sharedBytes
	end := len(b) + len(ids)*each
	b = slices.Grow(b, len(ids)*each+unitSize)[:end+unitSize]
	var unit [unitSize]byte // the text of the latest id that was written in full
	var high uint64         // the first eight bytes of that id
	var low uint32          // the last four
	for i := range ids {
		id := &ids[i]
		h, l := binary.BigEndian.Uint64(id[:]), binary.BigEndian.Uint32(id[8:])
		if i == 0 || h != high || l>>8 != low>>8 {
			high, low = h, l
			text, _ := id.AppendText(append(unit[:0], f.before...))
			copy(unit[len(text):], f.after)
		}
		out := (*[unitSize]byte)(b[end-(len(ids)-i)*each:])
		*out = unit
		out[last], out[last+1] = digits[l>>4&15], digits[l&15]
	}
	return append(b[:end-f.between], f.close...)
}

// accepted returns the form that an Accept header prefers, or nil.
func accepted(header string) *idForm {
	if header == "" {
		return idForms[0]
	}
	var best *idForm
	var bestQ float64
	for _, f := range idForms {
		kind, _, _ := strings.Cut(f.mediaType, "/")
		q, exact := 0., -1
		for part := range strings.SplitSeq(header, ",") {
			name, parameters, _ := mime.ParseMediaType(part)
			for i, pattern := range []string{"*/*", kind + "/*", f.mediaType} {
				if name == pattern && i > exact {
					exact = i
					q, _ = strconv.ParseFloat(cmp.Or(parameters["q"], "1"), 64)
				}
			}
		}
		if q > bestQ {
			best, bestQ = f, q
		}
	}
	return best
}

type newIDsInput struct {
	Accept string       `header:"Accept" doc:"application/json, text/plain for one id per line, or application/octet-stream for 12 bytes per id."`
	Body   *wire.NewIDs `required:"false"`
}

func (s *Server) createIDs(api huma.API, at route) {
	op := operation(at, tagIDs, "createIDs", "Create ids",
		"Returns new ids, each greater than the one before. No id is ever returned twice. Without a body, one id is created.",
		http.StatusNotAcceptable, http.StatusUnsupportedMediaType)
	schemas := api.OpenAPI().Components.Schemas
	op.Responses = map[string]*huma.Response{"200": {
		Description: "The ids, in the form that Accept asks for.",
		Content: map[string]*huma.MediaType{
			idForms[0].mediaType: {Schema: schemas.Schema(reflect.TypeFor[wire.IDs](), true, "")},
			idForms[1].mediaType: {Schema: &huma.Schema{Type: huma.TypeString, Description: "One id per line."}},
			idForms[2].mediaType: {Schema: &huma.Schema{Type: huma.TypeString, Description: "Twelve bytes per id."}},
		},
	}}
	huma.Register(api, op, func(ctx context.Context, in *newIDsInput) (*huma.StreamResponse, error) {
		f, n := accepted(in.Accept), 1
		if in.Body != nil {
			n = in.Body.Count
		}
		switch {
		case f == nil:
			return nil, s.problem(ctx, errAcceptable)
		case n > page.MaxIDs:
			return nil, s.problem(ctx, page.TooMany(n))
		}
		return &huma.StreamResponse{Body: func(c huma.Context) {
			_, w := humago.Unwrap(c)
			s.sendIDs(w, f, n)
		}}, nil
	})
}

// createdIDs has the ids of one answer, and its bytes.
type createdIDs struct {
	ids []objectid.ID
	out []byte
}

var createdPool = sync.Pool{New: func() any { return new(createdIDs) }}

// sendIDs creates n ids and sends them.
func (s *Server) sendIDs(w http.ResponseWriter, f *idForm, n int) {
	c := createdPool.Get().(*createdIDs)
	defer createdPool.Put(c)
	c.ids = slices.Grow(c.ids[:0], n)[:n]
	s.backend.generator().Fill(c.ids)
	c.out = f.appendTo(c.out[:0], c.ids)
	h := w.Header()
	h.Set("Content-Type", f.mediaType)
	h.Set("Content-Length", strconv.Itoa(len(c.out)))
	if _, err := w.Write(c.out); err == nil { // otherwise the client has disconnected
		s.metrics.created.Add(float64(n))
	}
}

func (s *Server) newForm(w http.ResponseWriter, r *http.Request) {
	v, err := page.NewIDs(r.PostForm.Get("count"), r.PostForm.Get("format"), s.fill)
	s.showStart(w, r, statusOf(err), &page.Start{New: v})
}

// fill fills dst with new ids.
func (s *Server) fill(dst []objectid.ID) {
	s.backend.generator().Fill(dst)
	s.metrics.created.Add(float64(len(dst)))
}

type rangeInput struct {
	Since   string `query:"since" maxLength:"100" example:"24h" doc:"Ids since this time, or in a duration up to now."`
	From    string `query:"from" maxLength:"100" doc:"Ids from this time on. Send either this or since. The time is rounded down to a second."`
	To      string `query:"to" maxLength:"100" doc:"Ids from before this time. It is rounded up to a second. Default: no end."`
	Column  string `query:"column" maxLength:"100" default:"_id" doc:"Name of the column in SQL queries. It is inserted unchanged."`
	Process string `query:"process" maxLength:"10" example:"bcf86cd799" doc:"A process value (10 hexadecimal digits) or process block (8). The queries then match only ids with it. Query languages that cannot express that are left out. Default: any process."`
	Zone    string `query:"tz" maxLength:"100" default:"UTC" doc:"Time zone, such as Europe/Berlin, of times that do not name one."`
}

var rangeOf = describe(tagIDs, "range", "Turn a time range into a range of ids",
	"Returns the bounds of the ids that were created in a time range, and queries for them. A time is RFC 3339, a date, now, yesterday, last tuesday, a distance from now such as -7d or 2 hours ago, Unix seconds, an ObjectId, or a time as a program prints it, such as ISODate('2026-11-20T14:00:00Z').",
	func(s *Server, _ context.Context, in *rangeInput) (wire.Range, error) {
		return pure.TimeRange(timerange.Span{Since: in.Since, From: in.From, To: in.To}, in.Column, in.Process, in.Zone, s.options.Now())
	})

func (s *Server) showRange(w http.ResponseWriter, r *http.Request) {
	f, err := s.site.Range(r.URL.Query(), s.options.Now())
	s.show(w, r, statusOf(err), f)
}

func (s *Server) showOdds(w http.ResponseWriter, r *http.Request) {
	f, err := s.site.Odds(r.URL.Query())
	s.show(w, r, statusOf(err), f)
}
