package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/agent"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/client"
	"github.com/oidkit/oid/server/wire"
)

// forks starts a process for each line SOCKET NAME of its standard input. The process creates
// an id, connects to the agent, and lives until it is killed. NAME PID ID ANSWER are printed.
const forks = `
import os, signal, socket, sys, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    path, name = line.split()
    if os.fork() == 0:
        os.close(0)
        id = "%08x" % int(time.time()) + os.urandom(8).hex()
        s = socket.socket(socket.AF_UNIX)
        s.connect(path)
        s.sendall(b"oid1 %s name=%s\n" % (id.encode(), name.encode()))
        os.write(1, b"%s %d %s %s" % (name.encode(), os.getpid(), id.encode(), s.recv(200)))
        signal.pause()
`

// forker starts processes that connect to agents.
type forker struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Scanner
}

func newForker(t *testing.T) *forker {
	t.Helper()
	cmd := exec.Command(testenv.Program(t, "python3", "python3"), "-c", forks)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, out := testenv.Must(cmd.StdinPipe())(t), testenv.Must(cmd.StdoutPipe())(t)
	testenv.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // with all that it has started
		_ = cmd.Wait()
	})
	return &forker{t, in, bufio.NewScanner(out)}
}

// program is a process that an agent was told of.
type program struct {
	pid    int
	id     objectid.ID
	name   string
	answer string // of the agent
	killed time.Time
}

func (p *program) kill() {
	p.killed = time.Now()
	_ = syscall.Kill(p.pid, syscall.SIGKILL)
}

// start starts a process for each socket. Their names begin with kind.
func (f *forker) start(kind string, sockets []string) []*program {
	f.t.Helper()
	all, byName := make([]*program, len(sockets)), map[string]*program{}
	for i, socket := range sockets {
		all[i] = &program{name: fmt.Sprintf("%s-%d", kind, i)}
		byName[all[i].name] = all[i]
		testenv.Must(fmt.Fprintln(f.in, socket, all[i].name))(f.t)
	}
	for range all {
		if !f.out.Scan() {
			f.t.Fatal("the processes have not started")
		}
		words := strings.SplitN(f.out.Text(), " ", 4)
		p := byName[words[0]]
		p.pid = testenv.Must(strconv.Atoi(words[1]))(f.t)
		p.id, p.answer = testenv.Must(objectid.Parse(words[2]))(f.t), words[3]
	}
	return all
}

// border is a proxy between one agent and the server, which may stop passing requests on.
type border struct {
	name   string
	answer http.Handler // while down is set
	down   atomic.Bool
	log    *sharedBuffer
}

// to returns a handler that passes requests on to a URL.
func to(t *testing.T, target string) http.Handler {
	t.Helper()
	u := testenv.Must(url.Parse(target))(t)
	return &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(u) },
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
		ErrorLog:  slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
}

// realBorders are answers that nginx, HAProxy and Caddy give by themselves, for a target that
// is dead, silent or forbidden.
func realBorders(t *testing.T) (all []*border) {
	t.Helper()
	silent := testenv.Must(net.Listen("tcp", "127.0.0.1:0"))(t) // nobody accepts
	t.Cleanup(func() { silent.Close() })
	dead := testenv.FreePort(t)
	nginx, haproxy, caddy := testenv.FreePort(t), testenv.FreePort(t), testenv.FreePort(t)
	var locations strings.Builder
	for name, does := range map[string]string{
		"400": "return 400;", "403": "deny all;", "404": "return 404;", "405": "limit_except GET { deny all; }", "413": fmt.Sprintf("client_max_body_size 1; proxy_pass http://127.0.0.1:%d;", dead),
		"429": "return 429;", "502": fmt.Sprintf("proxy_pass http://127.0.0.1:%d;", dead), "503": "return 503;",
		"504": fmt.Sprintf("proxy_read_timeout 1s; proxy_pass http://%s;", silent.Addr()), "301": "return 301 https://$host/;", "200": `default_type text/html; return 200 "<html>we are back soon";`, "204": "return 204;", "444": "return 444;",
	} {
		fmt.Fprintf(&locations, "location /%s/ { %s }\n", name, does)
		all = append(all, &border{name: "real nginx " + name, answer: to(t, fmt.Sprintf("https://localhost:%d/%s/", nginx, name))})
	}
	testenv.Nginx(t, nginx, locations.String())
	testenv.HAProxy(t, haproxy, fmt.Sprintf(`  http-request deny deny_status 400 if { path_beg /400 }
  http-request deny deny_status 429 if { path_beg /429 }
  http-request return status 404 content-type text/plain string "not here" if { path_beg /404 }
  http-request redirect scheme https if { path_beg /302 }
  use_backend dead if { path_beg /503 }
  default_backend silent
backend dead
  server s 127.0.0.1:%d
backend silent
  server s %s
`, dead, silent.Addr()))
	for _, name := range []string{"400", "429", "404", "302", "503", "504"} {
		all = append(all, &border{name: "real HAProxy " + name, answer: to(t, fmt.Sprintf("http://127.0.0.1:%d/%s/", haproxy, name))})
	}
	testenv.Caddy(t, caddy, fmt.Sprintf("\trespond /404* 404\n\trespond /403* \"no\" 403\n\thandle /502* {\n\t\treverse_proxy 127.0.0.1:%d\n\t}\n}\n", dead))
	for _, name := range []string{"404", "403", "502", "200"} { // 200: no route
		all = append(all, &border{name: "real Caddy " + name, answer: to(t, fmt.Sprintf("https://localhost:%d/%s/", caddy, name))})
	}
	return all
}

// Whatever a proxy answers in place of the server, the agent keeps what is to be recorded, says
// so once, and records it when the proxy is well again: a process that ended meanwhile, one that
// connected, and one that did both. None is recorded twice, and none for another.
func TestAgentBorders(t *testing.T) {
	testenv.WithoutRace(t)
	all := realBorders(t)
	seen := map[string]bool{}
	for _, b := range testenv.Borders() { // TestBorders of the client has them all; by default, those that look like the server
		if kind := fmt.Sprint(b.Status, b.Type); !seen[kind] && (strings.HasPrefix(b.Type, "application/problem+json") || testenv.Rounds(0, 1) > 0) {
			seen[kind] = true
			all = append(all, &border{name: b.Name, answer: &b})
		}
	}
	folder := t.TempDir()
	store := "sqlite:" + filepath.Join(folder, "registry.db")
	tokenFile := filepath.Join(folder, "token")
	const token = "A-token-0f-some-length"
	testenv.NoError(t, os.WriteFile(tokenFile, []byte(token+"\n"), 0o600))
	_, said := startOid(t, "serving on http://", "serve", "--listen", "127.0.0.1:0", "--store", store, "--locks", "file:"+folder, "--token-file", tokenFile, "-q")
	server := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(said)
	ctx, stop := context.WithCancel(t.Context())
	var agents sync.WaitGroup
	defer agents.Wait()
	defer stop()
	sockets := make([]string, len(all))
	good := to(t, server)
	for i, b := range all {
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if b.down.Load() {
				b.answer.ServeHTTP(w, r)
				return
			}
			good.ServeHTTP(w, r)
		}))
		defer front.Close()
		sockets[i], b.log = filepath.Join(folder, fmt.Sprint("s", i)), &sharedBuffer{}
		l := testenv.Must(net.ListenUnix("unix", &net.UnixAddr{Name: sockets[i]}))(t)
		sink := toServer{client.Client{URL: front.URL, Retries: -1}, tokenFile}
		agents.Go(func() {
			err := agent.Serve(ctx, l, &agent.Options{
				State: sockets[i] + ".state", Interval: time.Second, Log: slog.New(slog.NewTextHandler(b.log, nil)),
				Open: func(context.Context) (agent.Sink, error) { return sink, nil },
			})
			if err != nil {
				t.Errorf("%s: %v", b.name, err)
			}
		})
	}
	programs := newForker(t)
	ends := programs.start("ends", sockets)
	stays := programs.start("stays", sockets)
	get := func(path string, to any) {
		t.Helper()
		r := testenv.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, server+path, nil))(t)
		r.Header.Set("Authorization", "Bearer "+token)
		res := testenv.Must(http.DefaultClient.Do(r))(t)
		defer res.Body.Close()
		if err := json.NewDecoder(res.Body).Decode(to); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d, %v", path, res.StatusCode, err)
		}
	}
	testenv.Await(t, "all are recorded", func() error {
		var list wire.Processes
		if get("/v1/processes?limit=10000", &list); len(list.Processes) < 2*len(all) {
			return fmt.Errorf("%d processes", len(list.Processes))
		}
		return nil
	})
	for _, b := range all {
		b.down.Store(true)
	}
	// logs returns how many logs have the words. A busy machine may starve an agent.
	logs := func(words string) (n int) {
		for _, b := range all {
			n += min(1, strings.Count(b.log.String(), words))
		}
		return n
	}
	const kept, starved = "they are kept and recorded later", "the agent did not run for a while"
	testenv.Await(t, "the outage", func() error {
		if n := logs(kept); n < len(all) {
			return fmt.Errorf("%d of %d agents have seen it", n, len(all))
		}
		return nil
	})
	begins := programs.start("begins", sockets)
	brief := programs.start("brief", sockets)
	for i := range all {
		ends[i].kill()
		brief[i].kill()
		for _, p := range []*program{begins[i], brief[i]} {
			if !strings.HasPrefix(p.answer, "ok - ") {
				t.Errorf("%s: the answer to %s in the outage is %q", all[i].name, p.name, p.answer)
			}
		}
	}
	time.Sleep(2 * time.Second) // they try again
	for i, b := range all {
		b.down.Store(false)
		begins[i].kill() // its end is recorded, too
	}
	byName := map[string][]wire.Process{}
	testenv.Await(t, "all that happened is recorded", func() error {
		time.Sleep(300 * time.Millisecond)
		var list wire.Processes
		get("/v1/processes?limit=10000", &list)
		clear(byName)
		ended := 0
		for _, p := range list.Processes {
			if byName[p.Name] = append(byName[p.Name], p); p.End != nil {
				ended++
			}
		}
		if ended < 3*(len(all)-logs(starved)) || len(byName) < 4*len(all)+1 {
			return fmt.Errorf("%d ends and %d processes are recorded, want %d and %d", ended, len(byName), 3*len(all), 4*len(all)+1)
		}
		return nil
	})
	for i, b := range all {
		for _, p := range []*program{ends[i], stays[i], begins[i], brief[i]} {
			as := byName[p.name]
			if len(as) != 1 {
				t.Errorf("%s: %s is recorded %d times", b.name, p.name, len(as))
				continue
			}
			if end := as[0].End; (end == nil) != p.killed.IsZero() && (end != nil || !strings.Contains(b.log.String(), starved)) || end != nil && (end.Time.Before(p.killed.Add(-10*time.Millisecond)) || end.Time.After(p.killed.Add(5*time.Second))) {
				t.Errorf("%s: %s was killed at %v, its end is recorded as %+v", b.name, p.name, p.killed, end)
			}
			var in wire.Inspection
			if get("/v1/ids/"+p.id.String(), &in); in.Trace == nil || in.Trace.Verdict != "claimed" || in.Trace.Processes[0].Name != p.name {
				t.Errorf("%s: the id of %s is traced to %+v", b.name, p.name, in.Trace)
			}
		}
		log := b.log.String()
		// A redirect may lead to nowhere.
		outages := strings.Count(log, kept)                                                                                          // more than one if the machine is busy
		others := strings.Count(log, "level=WARN") - outages - strings.Count(log, starved) - strings.Count(log, "reason=attributes") // on a busy machine, memory is not read in time
		if outages == 0 || others > 0 || !strings.Contains(log, "oid serve does not answer like this") && !strings.Contains(log, `client: Post \"`) || !strings.Contains(log, "processes are recorded again") {
			t.Errorf("%s: the log of the agent: %s", b.name, log)
		}
	}
}

// An agent sends the token that its file has now. While the file cannot be read, it sends the
// one that it began with.
func TestAgentTokenIsReplaced(t *testing.T) {
	var sent []string
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer front.Close()
	file := filepath.Join(t.TempDir(), "token")
	for _, tokens := range []string{"first-0f-some-length", "# new\nsecond-0f-some-length\nfirst-0f-some-length", ""} {
		testenv.NoError(t, os.WriteFile(file, []byte(tokens), 0o600))
		sink := toServer{client.Client{URL: front.URL, Token: "began-0f-some-length", Retries: -1}, file}
		if err := sink.End(t.Context(), "0123456789abcdef", "gone", 0); err == nil || errors.Is(err, agent.ErrRefused) || errors.Is(err, agent.ErrForgotten) {
			t.Errorf("401 of a proxy: %v", err)
		}
	}
	if want := "[Bearer first-0f-some-length Bearer second-0f-some-length Bearer began-0f-some-length]"; fmt.Sprint(sent) != want {
		t.Errorf("sent %v, want %s", sent, want)
	}
}

// Only what the server says about the values of a call is final for the agent. What an
// operator can mend, such as a token or the path of the server, is tried again.
func TestAgentFinalAnswers(t *testing.T) {
	for kind, c := range map[string]struct {
		status int
		want   error
	}{
		"not-found": {404, agent.ErrForgotten}, "ended": {409, agent.ErrForgotten}, "key-used": {409, agent.ErrForgotten}, "invalid": {422, agent.ErrRefused}, "malformed": {400, agent.ErrRefused},
		"no-endpoint": {404, nil}, "no-token": {401, nil}, "forbidden": {403, nil}, "method-not-allowed": {405, nil}, "too-large": {413, nil}, "wrong-host": {421, nil}, "busy": {503, nil}, "internal": {500, nil},
	} {
		err := serverError(&client.Error{Type: wire.ProblemBase + kind, Status: c.status})
		if errors.Is(err, agent.ErrForgotten) != (c.want == agent.ErrForgotten) || errors.Is(err, agent.ErrRefused) != (c.want == agent.ErrRefused) || err == nil {
			t.Errorf("%s: %v, want %v", kind, err, c.want)
		}
	}
}
