package server_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/query"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

func TestMakeIDs(t *testing.T) {
	r := serve(t, server.Options{})
	var last objectid.ID
	follow := func(form string, ids []objectid.ID, want int) {
		t.Helper()
		if len(ids) != want {
			t.Errorf("%s: %d ids, want %d", form, len(ids), want)
		}
		for _, id := range ids {
			if id.Compare(last) <= 0 {
				t.Fatalf("%s: %v after %v", form, id, last)
			}
			last = id
		}
	}
	for _, n := range []int{1, 2, 4096, 4097, 10_000} {
		body := fmt.Sprintf(`{"count":%d}`, n)
		follow("json", decode[wire.IDs](t, r.post(t, "/v1/ids", body), 200).IDs, n)
		text := r.post(t, "/v1/ids", body, "Accept", "text/plain")
		var ids []objectid.ID
		for line := range strings.Lines(text.body) {
			ids = append(ids, objectid.MustParse(strings.TrimSuffix(line, "\n")))
		}
		follow("text", ids, n)
		binary := r.post(t, "/v1/ids", body, "Accept", "application/octet-stream")
		if binary.header.Get("Content-Length") != fmt.Sprint(12*n) || binary.header.Get("Content-Type") != "application/octet-stream" {
			t.Errorf("binary: %v", binary.header)
		}
		ids = nil
		for b := []byte(binary.body); len(b) >= 12; b = b[12:] {
			ids = append(ids, objectid.ID(b))
		}
		follow("binary", ids, n)
	}
	follow("default", decode[wire.IDs](t, r.post(t, "/v1/ids", `{}`), 200).IDs, 1)

	for accept, want := range map[string]string{
		"*/*":                                 "application/json",
		"text/*":                              "text/plain",
		"text/plain;q=0.5, application/*":     "application/json",
		"application/octet-stream, */*;q=0.1": "application/octet-stream",
		"application/json;q=0, */*":           "text/plain",
	} {
		if got := r.post(t, "/v1/ids", `{}`, "Accept", accept); got.header.Get("Content-Type") != want {
			t.Errorf("Accept %s: %s, want %s", accept, got.header.Get("Content-Type"), want)
		}
	}
	wantProblem(t, r.post(t, "/v1/ids", `{}`, "Accept", "image/png"), 406, "text/plain")
	for _, body := range []string{`{"count":0}`, `{"count":-1}`, `{"count":10001}`, `{"count":10000001}`, `{"count":"3"}`, `{"count":1.5}`, `{"cuont":3}`, `[]`, `3`} {
		if got := r.post(t, "/v1/ids", body); got.status != 422 {
			t.Errorf("%s: status %d, want 422: %s", body, got.status, got.body)
		}
	}
	for _, want := range []string{"10,000", "several requests", "oid new -n 10001"} {
		wantProblem(t, r.post(t, "/v1/ids", `{"count":10001}`), 422, want)
	}
	for _, body := range []string{"{", "\xff"} { // without a body it is one id
		if got := r.post(t, "/v1/ids", body); got.status != 400 {
			t.Errorf("%q: status %d, want 400: %s", body, got.status, got.body)
		}
	}
}

func TestInspectOverAPI(t *testing.T) {
	r := serve(t, server.Options{})
	in := decode[wire.Inspection](t, r.get(t, "/v1/ids/507f1f77bcf86cd799439011"), 200)
	if in.Readings[0].Variant != "classic" || in.Trace.Verdict != string(registry.Unknown) {
		t.Errorf("%+v", in)
	}
	in = decode[wire.Inspection](t, r.get(t, "/v1/ids/507F1F77BCF86CD799439011?layout=java&trace=false"), 200)
	if in.Readings[0].Variant != "java" || in.Trace != nil || in.ID != "507f1f77bcf86cd799439011" {
		t.Errorf("%+v", in)
	}
	in = decode[wire.Inspection](t, r.get(t, "/v1/ids/01ARZ3NDEKTSV4RRFFQ69G5FAV"), 200)
	if in.Readings[0].Format != "ulid" || in.Trace != nil {
		t.Errorf("%+v", in)
	}
	wantProblem(t, r.get(t, "/v1/ids/zzz"), 422, "not an id")
	wantProblem(t, r.get(t, "/v1/ids/507f1f77bcf86cd799439011?layout=new"), 422, "layout")
	if got := decode[wire.Inspection](t, r.get(t, "/v1/ids/ObjectId(%22507f1f77bcf86cd799439011%22)"), 200); got.ID != "507f1f77bcf86cd799439011" {
		t.Errorf("an id with the text around it: %+v", got)
	}
	wantProblem(t, r.get(t, "/v1/ids/507f1f77bcf86cd799439011?lay=new"), 422, "lay")
}

func TestRangeOverAPI(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	r := serve(t, server.Options{Now: func() time.Time { return now }})
	got := decode[wire.Range](t, r.get(t, "/v1/range?since=1h&to=now&column=order_id"), 200)
	if got.From.ID != objectid.MinAt(now.Add(-time.Hour)) || got.To.ID != objectid.MinAt(now) {
		t.Errorf("from %v to %v", got.From.ID, got.To.ID)
	}
	texts := map[string]string{}
	for _, q := range got.Queries {
		texts[q.For] = q.Text
	}
	for _, form := range query.Languages {
		if texts[form.Name] == "" {
			t.Errorf("the answer lacks the form %s of query.Languages", form.Name)
		}
	}
	if want := fmt.Sprintf("order_id >= X'%v' AND order_id < X'%v'", got.From.ID, got.To.ID); texts["sql"] != want {
		t.Errorf("sql: %s, want %s", texts["sql"], want)
	}
	wantProblem(t, r.get(t, "/v1/range?from=soon"), 422, "want RFC 3339")
	wantProblem(t, r.get(t, "/v1/range?from=now&to=-1h"), 422, "the range is empty")
	wantProblem(t, r.get(t, "/v1/range?form=now"), 422, "form")
	wantProblem(t, r.get(t, "/v1/range?from=9000-01-01"), 422, "the last second that an ObjectId can hold is 2106-02-07T06:28:15Z")
	// A bound that cannot be read must not be left out: that would be every id.
	for _, query := range []string{"since=%zz", "from=2026-01-01%&to=now", "from=2026-01-01;to=now", "since=%ff", "%ff=1", "from=&from=2026-01-01", "from=2026-01-01&from=soon"} {
		wantProblem(t, r.get(t, "/v1/range?"+query), 400, "the query of the URL is malformed")
		if got := r.get(t, "/range?"+query, "Accept", "text/html"); got.status != 400 {
			t.Errorf("/range?%s: status %d", query, got.status)
		}
	}
}

// A process in another language: it joins, makes ids with its block, and they are
// traced to it; and one that adopts what it makes already.
func TestProcessesOverAPI(t *testing.T) {
	r := serve(t, server.Options{})
	start := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	join := func(pid int, rest string) wire.Registered {
		t.Helper()
		body := fmt.Sprintf(`{"name":"shop","pid":%d,"address":"10.0.0.7:8080","started":%q%s}`, pid, start.Format(time.RFC3339), rest)
		return decode[wire.Registered](t, r.post(t, "/v1/processes", body), 201)
	}
	a := join(7, `,"labels":{"team":"orders"}`)
	if g := gpid.MustParse(a.GPID); g.Addr().String() != "10.0.0.7:8080" || !g.Start().Equal(start) || g.PID() != 7 || a.IntervalSeconds != 10 {
		t.Errorf("joined: %+v", a)
	}
	raw, err := hex.DecodeString(fmt.Sprintf("%08x%s00000001", time.Now().Unix(), a.ProcessBlock))
	if err != nil {
		t.Fatal(err)
	}
	in := decode[wire.Inspection](t, r.get(t, "/v1/ids/"+hex.EncodeToString(raw)), 200)
	if in.Trace.Verdict != string(registry.Known) || in.Trace.Processes[0].GPID != a.GPID || in.Trace.Processes[0].Labels["team"] != "orders" {
		t.Errorf("trace: %+v", in.Trace)
	}

	sample := objectid.New()
	b := join(8, fmt.Sprintf(`,"evidence_ids":[%q]`, sample))
	if b.ProcessBlock != "" || b.ProcessValue != sample.String()[8:18] || b.Rivals != nil {
		t.Errorf("adopted: %+v", b)
	}
	c := join(9, fmt.Sprintf(`,"evidence_ids":[%q]`, sample))
	if len(c.Rivals) != 1 || c.Rivals[0] != b.GPID {
		t.Errorf("a second process with the same value: %+v, want a collision", c)
	}
	// A second client of the process, from the start, and a third one later.
	second, third := "a1b2c3d4e5", "b1b2c3d4e5"
	withValue := func(value string) string { return sample.String()[:8] + value + "000001" }
	d := join(10, fmt.Sprintf(`,"evidence_ids":[%q,%q],"host":"shop1"`, withValue("c1b2c3d4e5"), withValue(second)))
	samples := memberPath(d.Member) + "/evidence"
	if got := decode[wire.Registered](t, r.post(t, samples, fmt.Sprintf(`{"evidence_ids":[%q]}`, withValue(third))), 200); len(got.Adopted) != 3 || got.Adopted[2].ProcessValue != third {
		t.Errorf("with a further sample: %+v", got)
	}
	for _, value := range []string{second, third} {
		in := decode[wire.Inspection](t, r.get(t, "/v1/ids/"+withValue(value)), 200)
		if in.Trace.Verdict != string(registry.Claimed) || in.Trace.Certain || in.Trace.Processes[0].GPID != d.GPID ||
			in.Trace.Adopted.ProcessValue != value || in.Trace.Adopted.Evidence != string(registry.ByTime) {
			t.Errorf("an id of another client: %+v", in.Trace)
		}
	}
	if got := decode[wire.History](t, r.get(t, "/v1/processes/"+url.PathEscape(d.GPID)), 200); got.Processes[0].Host != "shop1" {
		t.Errorf("its host: %+v", got.Processes[0])
	}
	wantProblem(t, r.post(t, samples, `{"evidence_ids":[]}`), 422, "evidence_ids")
	wantProblem(t, r.post(t, samples, `{"evidence_ids":["507f1f77bcf86cd799439011"]}`), 422, "cannot have created")
	wantProblem(t, r.post(t, samples, `{"evidence_ids":["507f1f77bcf86cd799439011"],"layout":"odd"}`), 422, "layout")
	wantProblem(t, r.post(t, memberPath("0123456789abcdef")+"/evidence", fmt.Sprintf(`{"evidence_ids":[%q]}`, withValue(third))), 404, "")
	wantProblem(t, r.post(t, "/v1/processes", `{"name":"x","pid":1,"host":"a\nb"}`), 422, "host")
	wantProblem(t, r.post(t, "/v1/processes", `{"name":"x","pid":1,"evidence_ids":["507f1f77bcf86cd799439011"]}`), 422, "cannot have created")
	wantProblem(t, r.post(t, "/v1/processes", `{"name":"x","pid":1,"address":"here"}`), 422, "want ip:port")
	wantProblem(t, r.post(t, "/v1/processes", `{"name":"x","pid":0}`), 422, "pid")
	wantProblem(t, r.post(t, "/v1/processes", `{"pid":1}`), 422, "name")

	if got := decode[wire.Processes](t, r.get(t, "/v1/processes?address=10.0.0.7:8080"), 200); len(got.Processes) != 4 {
		t.Errorf("at the address: %d processes, want 4", len(got.Processes))
	}
	if got := decode[wire.Processes](t, r.get(t, "/v1/processes?limit=1"), 200); len(got.Processes) != 1 || got.Next == "" {
		t.Errorf("limit 1: %d processes, next %q", len(got.Processes), got.Next)
	}
	one := memberPath(a.Member)
	if got := r.post(t, one+"/heartbeats", `{"memory_bytes":5}`); got.status != 200 {
		t.Errorf("heartbeat: %+v", got)
	}
	h := decode[wire.History](t, r.get(t, "/v1/processes/"+url.PathEscape(a.GPID)), 200)
	if len(h.Processes) != 1 || len(h.Samples) != 2 || *h.Samples[1].MemoryBytes != 5 {
		t.Errorf("history: %+v", h)
	}
	if got := r.do(t, "DELETE", one, nil); got.status != 200 {
		t.Errorf("leave: %+v", got)
	}
	wantProblem(t, r.do(t, "DELETE", one, nil), 409, "has ended")
	wantProblem(t, r.post(t, one+"/heartbeats", `{}`), 409, "has ended")
	wantProblem(t, r.get(t, "/v1/processes/10.0.0.7:1:1795166651598985:1"), 404, "no process with the GPID 10.0.0.7:1:1795166651598985:1 is recorded")
	wantProblem(t, r.get(t, "/v1/processes/nobody"), 422, "gpid")
	self := decode[wire.Processes](t, r.get(t, "/v1/processes?state=alive"), 200)
	for _, p := range self.Processes {
		if p.Name == "oid serve" {
			wantProblem(t, r.do(t, "DELETE", memberPath(p.Member), nil), 409, "sends its own heartbeats")
		}
	}
}

func TestJoinRefuses(t *testing.T) {
	r := serve(t, server.Options{})
	join := func(labels string) reply {
		t.Helper()
		return r.post(t, "/v1/processes", fmt.Sprintf(`{"name":"x","pid":4294967295,"address":"[::ffff:10.0.0.7]:80","labels":{%s}}`, labels))
	}
	long := strings.Repeat("x", 201)
	wantProblem(t, join(`"a":"`+long+`"`), 422, "up to 200")
	wantProblem(t, join(`"`+long[:101]+`":"a"`), 422, "want a name of 1 to 100 bytes")
	wantProblem(t, join(`"":"a"`), 422, "label")
	for body, want := range map[string]string{
		`{"name":"  ","pid":1}`:                                 "printable characters",
		`{"name":"a\u0000b","pid":1}`:                           "printable characters",
		`{"name":"x","pid":1,"started":"2286-01-01T00:00:00Z"}`: "not in the future",
	} {
		wantProblem(t, r.post(t, "/v1/processes", body), 422, want)
	}
	joined := decode[wire.Registered](t, join(`"`+long[:100]+`":"`+long[:200]+`"`), 201)
	for _, addr := range []string{"10.0.0.7:80", "[::ffff:10.0.0.7]:80"} {
		if got := decode[wire.Processes](t, r.get(t, "/v1/processes?address="+url.QueryEscape(addr)), 200); len(got.Processes) != 1 {
			t.Errorf("at %s: %+v", addr, got)
		}
	}
	end := memberPath(joined.Member)
	wantProblem(t, r.do(t, "DELETE", end+"?reason=%ff", nil), 400, "UTF-8")
	if got := r.do(t, "DELETE", end+"?reason=%C3%BC", nil); got.status != 200 {
		t.Errorf("leave: %+v", got)
	}
}

// The fields of the form must not be ignored.
func TestCensusForm(t *testing.T) {
	r := serve(t, server.Options{})
	field := func(name, value string) string {
		return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
	}
	file := "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n507f1f77bcf86cd799439011\n\r\n"
	for _, c := range []struct {
		body   string
		status int
		want   string
	}{
		{field("field", "_id") + file + "--B--\r\n", 200, "Census of 1 id"},
		{file + field("tz", "Bogus") + "--B--\r\n", 422, "comes after the file"},
		{field("field", strings.Repeat("a", 1001)) + file + "--B--\r\n", 422, "more than 1000 bytes"},
		{field("tz", "Bogus") + file + "--B--\r\n", 422, "time zone"},
		{field("colour", "red") + file + "--B--\r\n", 422, "unknown field"},
		{field("format", "xml") + file + "--B--\r\n", 422, "format"},
		{field("format", "grep") + file + "--B--\r\n", 200, "Census of 1 id"},
		{field("field", "_id") + "--B--\r\n", 422, "no file"},
	} {
		got := r.do(t, "POST", "/census", strings.NewReader(c.body), "Content-Type", "multipart/form-data; boundary=B", "Accept", "text/html")
		if got.status != c.status || !strings.Contains(got.body, c.want) {
			t.Errorf("%q: status %d, want %d and %q", c.body[:60], got.status, c.status, c.want)
		}
	}
}

func TestCensusOverAPI(t *testing.T) {
	r := serve(t, server.Options{Limits: server.Limits{UploadIDs: 5000}})
	upload := func(path string, data []byte) reply {
		t.Helper()
		return r.do(t, "POST", path, bytes.NewReader(data), "Content-Type", "application/octet-stream")
	}
	got := decode[wire.Census](t, upload("/v1/census?name=orders&by=day&tz=Europe/Berlin&top=2", []byte(dump())), 200)
	if got.IDs != 3000 || got.Sources[0].Name != "orders" || len(got.TopProcesses) != 2 || got.Processes != 3 || got.Timeline.Zone != "Europe/Berlin" || got.Sources[0].Broken != 1 {
		t.Errorf("%+v", got)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	fmt.Fprint(w, dump())
	w.Close()
	if got := decode[wire.Census](t, upload("/v1/census", packed.Bytes()), 200); got.IDs != 3000 {
		t.Errorf("gzip: %d ids", got.IDs)
	}
	// What was read of a file that is cut short counts, and the report says so.
	if got := decode[wire.Census](t, upload("/v1/census", packed.Bytes()[:packed.Len()/2]), 200); got.Sources[0].Error == "" {
		t.Errorf("a gzip file that is cut short: %+v", got.Sources[0])
	}
	wantProblem(t, upload("/v1/census", nil), 422, "empty")
	wantProblem(t, upload("/v1/census", []byte("\x89PNG\r\n")), 422, "unknown format")
	wantProblem(t, upload("/v1/census?format=xml", []byte("x")), 422, "format")
	wantProblem(t, upload("/v1/census?tz=Local", []byte("x")), 422, "time zone")
	wantProblem(t, upload("/v1/census", bytes.Repeat([]byte("507f1f77bcf86cd799439011\n"), 5001)), 413, "too many ids")
	// Without ids there is no verdict, but where the ids are.
	wrapped := []byte(`{"data":[{"_id":"507f1f77bcf86cd799439011"}]}`)
	if got := decode[wire.Census](t, upload("/v1/census", wrapped), 200); got.Findings != nil || got.Unjudged == nil || len(got.Unjudged.Elsewhere) != 1 || got.Unjudged.Elsewhere[0].Field != "data._id" {
		t.Errorf("ids elsewhere: %+v", got)
	}
	if got := decode[wire.Census](t, upload("/v1/census?field=data._id", wrapped), 200); got.Findings == nil || got.Unjudged != nil || got.IDs != 1 {
		t.Errorf("the ids there: %+v", got)
	}
	if got := r.do(t, "POST", "/v1/census", bytes.NewReader(wrapped), "Content-Type", "application/octet-stream", "Accept", "text/html").body; strings.Contains(got, "Findings") || !strings.Contains(got, "data._id") {
		t.Errorf("the page about ids elsewhere: %s", got)
	}
	// The writer of these ids is known, and named.
	text := r.post(t, "/v1/ids", `{"count":10}`, "Accept", "text/plain").body
	if got := decode[wire.Census](t, upload("/v1/census", []byte(text)), 200); got.TopProcesses[0].Name != "oid serve" {
		t.Errorf("the writer is %+v", got.TopProcesses[0])
	}
}

func TestNoSuchEndpoint(t *testing.T) {
	r := serve(t, server.Options{})
	wantProblem(t, r.get(t, "/v1/nothing"), 404, "no such endpoint")
	got := r.do(t, "PUT", "/v1/range", nil)
	wantProblem(t, got, 405, "GET")
	if got.header.Get("Allow") != "GET" {
		t.Errorf("Allow: %q", got.header.Get("Allow"))
	}
	for _, method := range []string{"DELETE", "GET"} { // DELETE is for members, and heartbeats is none
		if got := r.do(t, method, "/v1/members/heartbeats", nil); got.status != 405 || got.header.Get("Allow") != "POST" {
			t.Errorf("%s /v1/members/heartbeats: %d, Allow %q", method, got.status, got.header.Get("Allow"))
		}
	}
	if got := r.get(t, "/nothing", "Accept", "text/html"); got.status != 404 || !strings.Contains(got.body, "<html") {
		t.Errorf("/nothing: %+v", got)
	}
}
