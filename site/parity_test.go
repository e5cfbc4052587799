package main

import (
	"bufio"
	"context"
	"encoding/json"
	"html"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/page"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/server"
)

// The views that both front ends are asked for: a path with its query and, for POST, a form.
var views = []struct{ path, form string }{
	{"/", ""},
	{"/?id=507f1f77bcf86cd799439011", ""},
	{"/?id=5e4fa350b636f733a15d6f62", ""},
	{"/?id=ObjectId(%22507f1f77bcf86cd799439011%22)", ""},
	{"/?id=507F1F77BCF86CD799439011", ""},
	{"/?id=000000000000000000000000", ""},
	{"/?id=6ae681000000000000000000", ""},
	{"/?id=ffffffffffffffffffffffff", ""},
	{"/?id=7fffffff0000000000000005", ""},
	{"/?id=c232ab00-9414-11ec-b3c8-9f6bdeced846", ""},
	{"/?id=9f6bdece-d846-4414-b3c8-c232ab009414", ""},
	{"/?id=01ARZ3NDEKTSV4RRFFQ69G5FAV", ""},
	{"/?id=1541815603606036480", ""},
	{"/?id=0ujtsYcgvSTl8PAuAdqWYSMnLOv", ""},
	{"/?id=nonsense-id", ""},
	{"/?id=no+id+in+this+line", ""},
	{"/?id=100%25", ""},
	{"/?id=+++", ""},
	{"/?id=507f1f77bcf86cd799439011+507f1f77bcf86cd799439012%0Azz", ""},
	{"/?id=" + strings.Repeat("507f1f77bcf86cd799439011%0A", 7), ""},
	{"/?id=%7B%22_id%22%3A%7B%22%24oid%22%3A%22507f1f77bcf86cd799439011%22%7D%2C%22n%22%3A%22%3Cscript%3Ealert(1)%3C%2Fscript%3E%22%7D", ""},
	{"/?id=%3Cscript%3Ealert(%22'%22)%3C%2Fscript%3E", ""},
	{"/?id=%22%3E%3Cimg+src%3Dx+onerror%3Dalert(1)%3E", ""},
	{"/?id=%E4%BD%A0%E5%A5%BD%00%E2%80%AE", ""},
	{"/?id=1351716000", ""},
	{"/?id=1351716000000", ""},
	{"/?id=2026-11-01T10%3A00", ""},
	{"/?id=ISODate(%222026-11-20T14%3A00%3A00Z%22)", ""},
	{"/?nothing=1", ""},
	{"/", "id=507f1f77bcf86cd799439011"},
	{"/", "id=+507f1f77bcf86cd799439011%0A"},
	{"/", "id="},
	{"/", "id=" + strings.Repeat("507f1f77bcf86cd799439011%0A", page.MaxRows+3)},
	{"/", "id=" + strings.Repeat("zz-is-no-id%0A", 400)},
	{"/new", "count=3&format=hex"},
	{"/new", "count=60&format="},
	{"/new", "count=2&format=mongosh"},
	{"/new", "count=10000&format=postgres"},
	{"/new", "count=10001"},
	{"/new", "count=0"},
	{"/new", "count=%3Cb%3E"},
	{"/new", "count=2&format=%22%3E%3Cscript%3E"},
	{"/range", ""},
	{"/range?since=7d", ""},
	{"/range?from=2026-11-01&to=2026-12-01", ""},
	{"/range?from=2026-11-01T10%3A00&to=%2B2h&tz=Europe%2FBerlin", ""},
	{"/range?from=2026-03-29T02%3A30&tz=Europe%2FBerlin", ""},
	{"/range?from=2026-10-25T02%3A30&to=now&tz=Asia%2FShanghai", ""},
	{"/range?to=2026-12-01&column=%22my+id%22&process=bcf86cd799", ""},
	{"/range?from=507f1f77bcf86cd799439011", ""},
	{"/range?from=20%2FNov%2F2026%3A14%3A00%3A00+%2B0100", ""},
	{"/range?from=2026-12-01&to=2026-11-01", ""},
	{"/range?from=soon", ""},
	{"/range?since=24h&from=2026", ""},
	{"/range?since=24h&tz=Mars%2FPhobos", ""},
	{"/range?since=24h&tz=%2B05%3A00", ""},
	{"/range?since=24h&tz=-0530", ""},
	{"/range?from=2026-11-01&tz=US%2FPacific", ""},
	{"/range?from=2026-11-01&tz=CET", ""},
	{"/range?from=2026-11-01&tz=EST5EDT", ""},
	{"/range?from=2026-11-01&tz=GMT", ""},
	{"/range?from=2026-11-01&tz=Etc%2FUTC", ""},
	{"/range?from=2026-11-01&tz=Etc%2FGMT-14", ""},
	{"/range?from=2026-11-01&tz=Local", ""},
	{"/range?from=2026-11-01&tz=..%2FEurope%2FBerlin", ""},
	{"/range?from=2026-11-01&tz=Europe%2FBerlin%00", ""},
	{"/range?from=2050-07-01&to=2106-02-07&tz=Europe%2FBerlin", ""},
	{"/range?from=1975-01-01&to=1980-06-01T00%3A00&tz=America%2FNew_York", ""},
	{"/range?since=24h&process=xyz", ""},
	{"/?ID=507f1f77bcf86cd799439011", ""},
	{"/range?from=+2026-11-01+&to=%20", ""},
	{"/odds?processes=+5+", ""},
	{"/odds?processes=1e400", ""},
	{"/odds?processes=1000&over=1e30d", ""},
	{"/odds?processes=%F0%9F%92%A9", ""},
	{"/range?column=a%00b&since=1h", ""},
	{"/range?column=%E2%80%AE&since=1h", ""},
	{"/?id=507f1f77bcf86cd799439011%00", ""},
	{"/?id=%E2%80%AE507f1f77bcf86cd799439011", ""},
	{"/?id=507f1f77bcf86cd799439011&tz=Europe%2FBerlin", ""},
	{"/?id=%26amp%3B%23x3c%3B", ""},
	{"/range?since=%3Cscript%3E%22'&column=%3Cscript%3E%22'&tz=UTC", ""},
	{"/range?from=" + strings.Repeat("9", 3000), ""},
	{"/odds", ""},
	{"/odds?processes=1e6&rate=0.1&over=10000d&layout=driver", ""},
	{"/odds?processes=0.5", ""},
	{"/odds?rate=NaN", ""},
	{"/odds?over=soon", ""},
	{"/odds?layout=%3Cscript%3E", ""},
}

// differences are all texts that the static page may show in place of those of the server, and
// why. A text of the server is a regular expression.
var differences = []struct{ server, static, why string }{
	{`cannot be told: this server has no registry`, `cannot be told without a registry: <code>oid serve</code> has one`, "there is no server"},
	{`(?s)<section class="panel card lead-to"><h2><a href="#">Processes</a></h2>.*?</section>`, ``, "there is no registry"},
	{`Upload a dump or an export to see when the collection grew, which`, `Drop a dump or an export to see when the collection grew, how many`, "there is no registry"},
	{`(what is wrong with them\.)(</p></section></div>)`, `$1 The file is not uploaded.$2`, "the browser reads the file"},
	{`The server never creates an id twice\. Neither do the processes of its registry, as long as it keeps its data\. `, `Your browser creates these ids. Each time this page is loaded, it draws a new process value at random, as a MongoDB driver does when a program starts. `, "the browser creates the ids"},
	{`<h1>Read an id, or create one</h1>`, `<h1>MongoDB ObjectId to timestamp converter</h1>`, "search engines find the static page"},
	{`Paste anything: one id, a line`, `Paste an ObjectId to see when it was created, or paste anything that contains ids: a line`, "search engines find the static page"},
}

var (
	contents = regexp.MustCompile(`(?s)<main id="main" tabindex="-1">(.*)</main>`)
	links    = regexp.MustCompile(`(href|action)="(/[^"]*)"`)
	made     = regexp.MustCompile(`(?s)(class="[^"]*made-ids.*?)<form`)
	lastDay  = regexp.MustCompile(`id="now".*?</pre>`)
	newLink  = regexp.MustCompile(`id=[0-9a-f]{24}">a new one`)
	agoText  = regexp.MustCompile(`(data-ago="[^"]*")>[^<]*<`)
)

// asStatic returns what the static page has to show where the server shows contents.
func asStatic(contents string) string {
	site := &page.Site{Static: true}
	contents = links.ReplaceAllStringFunc(contents, func(link string) string {
		m := links.FindStringSubmatch(link)
		return m[1] + `="` + html.EscapeString(site.URL(html.UnescapeString(m[2]))) + `"`
	})
	for _, d := range differences {
		contents = regexp.MustCompile(d.server).ReplaceAllString(contents, d.static)
	}
	return contents
}

// compared returns contents without what differs from one request to the next.
func compared(contents string) string {
	contents = agoText.ReplaceAllString(newLink.ReplaceAllString(contents, "a new one"), "$1><")
	for _, part := range []*regexp.Regexp{made, lastDay} { // the server keeps its overview for a second
		contents = part.ReplaceAllStringFunc(contents, func(part string) string {
			return strings.Map(func(r rune) rune {
				if strings.ContainsRune("0123456789abcdef", r) {
					return 'x'
				}
				return r
			}, part)
		})
	}
	return contents
}

// Every view that needs no registry is the same on the server and in the static page, and the
// address that the static page gives it leads there again.
func TestStaticPageIsThePageOfTheServer(t *testing.T) {
	ask := program(t)
	base := serve(t)
	for _, v := range views {
		name := v.path + " " + v.form
		if len(name) > 90 {
			name = name[:90]
		}
		t.Run(name, func(t *testing.T) {
			var want, got, again string
			var answer answered
			for range 5 { // until all answers are of one second
				want = compared(asStatic(served(t, base+v.path, v.form)))
				answer = ask(t, (&page.Site{Static: true}).URL(v.path), v.form)
				got, again = compared(answer.HTML), compared(ask(t, answer.Address, "").HTML)
				if got == want && (again == got || v.form != "") {
					break
				}
			}
			if got != want {
				t.Fatalf("the server and the static page differ:\n%s", difference(want, got))
			}
			if again != got && v.form == "" {
				t.Errorf("its address %s leads elsewhere:\n%s", answer.Address, difference(got, again))
			}
			if len(answer.Address) > 3*page.MaxLink+10 {
				t.Errorf("its address has %d characters", len(answer.Address))
			}
		})
	}
}

// difference returns the surroundings of the first difference of two texts.
func difference(want, got string) string {
	i := 0
	for i < min(len(want), len(got)) && want[i] == got[i] {
		i++
	}
	around := func(text string) string { return text[max(0, i-80):min(len(text), i+200)] }
	return "server: " + around(want) + "\nstatic: " + around(got)
}

// served returns the contents of a page of the server.
func served(t *testing.T, address, form string) string {
	t.Helper()
	method, body := http.MethodGet, io.Reader(nil)
	if form != "" {
		method, body = http.MethodPost, strings.NewReader(form)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, address, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	data, err := io.ReadAll(reply.Body)
	if m := contents.FindSubmatch(data); err == nil && m != nil {
		return string(m[1])
	}
	t.Fatalf("status %d, %v: %s", reply.StatusCode, err, data)
	return ""
}

// serve starts a server without a registry and returns its URL.
func serve(t *testing.T) string {
	t.Helper()
	s, err := server.New(&server.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// answered is what the function oidPage returns.
type answered struct{ Title, Address, HTML string }

// program runs the program of the static page in Node, and returns its function oidPage.
func program(t *testing.T) func(t *testing.T, address, form string) answered {
	t.Helper()
	node := testenv.Program(t, "node", "nodejs")
	folder := built(t)
	script := `
delete globalThis.fs; // browsers have none
require(process.argv[1]);
const go = new Go();
globalThis.oidReady = () => require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { title, address, html } = oidPage(...JSON.parse(line), 'UTC');
  console.log(JSON.stringify({ title, address, html }));
}).on('close', () => process.exit());
WebAssembly.instantiate(require('zlib').gunzipSync(require('fs').readFileSync(process.argv[2])), go.importObject).then(({ instance }) => go.run(instance));`
	run := exec.Command(node, "-e", script, filepath.Join(folder, "wasm_exec.js"), filepath.Join(folder, "oid.wasm.gz"))
	run.Stderr = os.Stderr
	in, err := run.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := run.Wait(); err != nil {
			t.Error(err)
		}
	})
	lines := bufio.NewReader(out)
	return func(t *testing.T, address, form string) (a answered) {
		t.Helper()
		request, _ := json.Marshal([]string{address, form})
		if _, err := in.Write(append(request, '\n')); err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, &a)
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return a
	}
}
