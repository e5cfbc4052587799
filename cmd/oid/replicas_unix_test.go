//go:build unix

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/client"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/store/pgstore"
)

// nextToken is the token that replaces deployToken.
const nextToken = "0b6f2c9d8e7a41f3b5d1c0a2e4f69837"

// replica is one of several "oid serve" of a store.
type replica struct {
	t     *testing.T
	addr  string
	args  []string
	serve *exec.Cmd
}

// start starts the replica and waits until it is ready.
func (r *replica) start() {
	r.t.Helper()
	r.serve = exec.CommandContext(r.t.Context(), "oid", append([]string{"serve", "--quiet", "--listen", r.addr}, r.args...)...)
	if err := r.serve.Start(); err != nil {
		r.t.Fatal(err)
	}
	testenv.Await(r.t, "replica", func() error {
		if status := r.get(r.t.Context(), "/readyz", ""); status != http.StatusOK {
			return fmt.Errorf("status %d", status)
		}
		return nil
	})
}

// get returns the status of an answer of the replica, past the proxy, or 0.
func (r *replica) get(ctx context.Context, path, token string) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.addr+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}

// end sends a signal to the replica and waits for its end.
func (r *replica) end(signal syscall.Signal) {
	r.t.Helper()
	if err := r.serve.Process.Signal(signal); err != nil {
		r.t.Fatal(err)
	}
	_ = r.serve.Wait()
}

// overload keeps the replica busy with more requests than it can answer in time, until stop is
// called. It returns when the replica refuses one of them.
func (r *replica) overload() (stop func()) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	var running sync.WaitGroup
	refused := make(chan struct{}, 1000)
	for range 120 {
		running.Go(func() {
			for ctx.Err() == nil {
				if r.get(ctx, "/oid/v1/processes", deployToken) == http.StatusServiceUnavailable {
					refused <- struct{}{}
				}
			}
		})
	}
	select {
	case <-refused:
	case <-time.After(time.Minute):
		r.t.Error("the replica is not overloaded")
	}
	return func() { cancel(); running.Wait() }
}

// visitors read and register through a proxy until stop is called.
type visitors struct {
	mu         sync.Mutex
	registered map[string]bool // the names
	problems   []string
	reads      atomic.Int64
	end        chan struct{}
	running    sync.WaitGroup
}

func (v *visitors) failed(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.problems = append(v.problems, fmt.Sprintf(format, args...))
}

// each calls visit until the visitors stop, n at a time.
func (v *visitors) each(n int, visit func(i int)) {
	for k := range n {
		v.running.Go(func() {
			for i := k; ; i += n {
				select {
				case <-v.end:
					return
				case <-time.After(5 * time.Millisecond):
					visit(i)
				}
			}
		})
	}
}

// visit starts visitors. If repeat is true, they read again after a 503 with Retry-After.
func visit(t *testing.T, base string, repeat bool) *visitors {
	v := &visitors{registered: map[string]bool{}, end: make(chan struct{})}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	plain := &http.Client{Transport: transport, Timeout: time.Minute}
	c := &client.Client{URL: base, Token: deployToken, HTTP: plain}
	v.each(4, func(i int) {
		path := [...]string{"v1/ids/507f1f77bcf86cd799439011", "v1/processes?limit=3"}[i%2]
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Authorization", "Bearer "+deployToken)
		res, err := plain.Do(req)
		v.reads.Add(1)
		for err == nil && res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") != "" && repeat {
			res.Body.Close()
			time.Sleep(time.Second)
			res, err = plain.Do(req)
		}
		if err != nil {
			v.failed("GET %s: %v", path, err)
			return
		}
		defer res.Body.Close()
		if body, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
			v.failed("GET %s: %d, %v: %.200s", path, res.StatusCode, err, body)
		}
	})
	v.each(4, func(i int) {
		name := fmt.Sprintf("visitor-%d", i)
		m, err := c.Register(t.Context(), wire.Registration{Name: name, PID: uint32(i + 1)})
		if err != nil {
			v.failed("register %s: %v", name, err)
			return
		}
		v.mu.Lock()
		v.registered[name] = true
		v.mu.Unlock()
		if err := c.End(t.Context(), m.Member, "done", 0); err != nil {
			v.failed("end %s: %v", name, err)
		}
	})
	return v
}

func (v *visitors) stop() {
	close(v.end)
	v.running.Wait()
}

// Two replicas behind each proxy of docs/deploy.md lose no read and no registration, and record no
// process twice, while one of them is overloaded, restarted and killed.
func TestDeployReplicas(t *testing.T) {
	pg := testenv.SharedPostgres(t)
	for name, start := range map[string]func(t *testing.T, port int, a, b string){
		"nginx": func(t *testing.T, port int, a, b string) {
			location := testenv.DocBlock(t, deployPage, "nginx", 0, "proxy_pass http://127.0.0.1:8024;", testenv.DocBlock(t, deployPage, "nginx", 2))
			testenv.Nginx(t, port, location, testenv.DocBlock(t, deployPage, "nginx", 1, "127.0.0.1:8024", a, "127.0.0.1:8025", b))
		},
		"caddy": func(t *testing.T, port int, a, b string) {
			testenv.Caddy(t, port, testenv.DocBlock(t, deployPage, "caddy", 0, "ids.example.com {\n", "", "        reverse_proxy 127.0.0.1:8024 {\n", testenv.DocBlock(t, deployPage, "caddy", 1, "127.0.0.1:8024", a, "127.0.0.1:8025", b)))
		},
		"haproxy": func(t *testing.T, port int, a, b string) {
			testenv.HAProxyTLS(t, port, testenv.DocBlock(t, deployPage, "haproxy", 0, "127.0.0.1:8024", a, "127.0.0.1:8025", b, ":443", fmt.Sprintf("127.0.0.1:%d", port)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			url := testenv.PostgresSchema(t, pg.URL())
			port := testenv.FreePort(t)
			base := fmt.Sprintf("https://localhost:%d/oid/", port)
			slow := testenv.NewCable(t, pg.Addr)
			var replicas [2]*replica
			tokens := tokenFile(t)
			for i := range replicas {
				replicas[i] = &replica{t: t, addr: fmt.Sprintf("127.0.0.1:%d", testenv.FreePort(t)), args: []string{
					"--store", url, "--token-file", tokens, "--base-url", base, "--trusted-proxy", "127.0.0.1", "--max-requests", "4",
				}}
			}
			replicas[1].args[1] = strings.Replace(url, pg.Addr, slow.Addr, 1)
			replicas[0].start()
			replicas[1].start()
			start(t, port, replicas[0].addr, replicas[1].addr)
			browse(t, base, "127.0.0.1")
			v := visit(t, base, name == "caddy")
			phase := func(what string, tried bool, do func()) {
				if !tried {
					return
				}
				v.mu.Lock()
				before, reads, registered := len(v.problems), v.reads.Load(), len(v.registered)
				v.mu.Unlock()
				do()
				time.Sleep(300 * time.Millisecond)
				v.mu.Lock()
				defer v.mu.Unlock()
				now := v.problems[before:]
				t.Logf("%s: %d reads, %d registrations, %d problems", what, v.reads.Load()-reads, len(v.registered)-registered, len(now))
				if len(now) > 0 {
					t.Errorf("%s: %d problems: %q", what, len(now), now[:min(len(now), 5)])
				}
			}
			phase("quiet", true, func() {})
			long := testenv.Rounds(0, 1) > 0 // the overload takes 8 s; what the proxies have in common is tried with nginx
			phase("overloaded", long, func() {
				slow.Slow(100 * time.Millisecond)
				stop := replicas[1].overload()
				time.Sleep(time.Second)
				stop()
				slow.Slow(0)
			})
			phase("restarted", long || name == "nginx", func() {
				both, err := os.ReadFile(tokens)
				if err == nil {
					err = os.WriteFile(tokens, append(both, "next all "+nextToken+"\n"...), 0o600)
				}
				if err != nil {
					t.Error(err)
				}
				for _, r := range replicas {
					r.end(syscall.SIGTERM)
					r.start()
					time.Sleep(1500 * time.Millisecond) // until the proxy has seen it
				}
			})
			phase("killed", true, func() {
				replicas[0].end(syscall.SIGKILL)
				time.Sleep(500 * time.Millisecond)
				replicas[0].start()
			})
			v.stop()
			for _, r := range replicas {
				if !long && name != "nginx" {
					continue
				}
				for _, token := range []string{deployToken, nextToken} { // both are valid while clients change
					if status := r.get(t.Context(), "/oid/v1/processes", token); status != http.StatusOK {
						t.Errorf("with the token %s: status %d", token, status)
					}
				}
			}
			s, err := pgstore.Open(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			recorded := map[string]int{}
			for p, err := range registry.New(s, nil).All(t.Context(), registry.Query{}) {
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(p.Name, "visitor-") {
					recorded[p.Name]++
				}
			}
			for name := range v.registered {
				if recorded[name] != 1 {
					t.Errorf("%s is recorded %d times", name, recorded[name])
				}
			}
			if len(recorded) > len(v.registered) {
				t.Errorf("%d processes are recorded, %d know it", len(recorded), len(v.registered))
			}
		})
	}
}
