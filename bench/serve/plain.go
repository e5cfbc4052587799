package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/bench/page"
)

// servePlain is the server to compare with: it reads each request and answers with the
// bytes on standard input, as a program of a few lines with net/http does.
func servePlain() error {
	answer, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	kind, answer, _ := bytes.Cut(answer, []byte{'\n'})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", string(kind))
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		_, _ = w.Write(answer)
	}))
}

// request is what wrk sends. The text anotherID in its path is another id each time.
type request struct {
	name, method, path, body, accept string
}

const anotherID = "ANOTHER"

// script returns a script that makes wrk send r.
func (r *request) script() string {
	return fmt.Sprintf(`wrk.method = %q
wrk.body = %q
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = %q
local before, after = string.match(%q, "(.*)%s(.*)")
if before then
	math.randomseed(os.time())
	request = function()
		return wrk.format(nil, before .. string.format("5%%07x%%08x%%08x", math.random(0, 0xfffffff), math.random(0, 0x7fffffff), math.random(0, 0x7fffffff)) .. after)
	end
end
`, r.method, r.body, r.accept, r.path, anotherID)
}

// costs is what a request takes of a server.
type costs struct {
	cpu  time.Duration // of the server, for a request
	rate float64       // requests a second
}

// sideBySide measures each request at oid and at a plain server that answers with the
// same bytes, both under wrk.
func sideBySide(url string, oidPID, rounds int, turn time.Duration, requests []request) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "\nwrk with 32 connections; plain is a server of a few lines with net/http that answers with the same bytes. Left out: fasthttp, which is not net/http. Processor time for a request, medians of %d rounds of %v.\n", rounds, turn)
	fmt.Fprintf(&b, "\n| request | plain | oid | ratio | oid, requests a second |\n|---|---:|---:|---:|---:|\n")
	for _, r := range requests {
		kind, answer, err := r.send(url)
		if err != nil {
			return "", err
		}
		plain, stop, err := startPlain(kind, answer)
		if err != nil {
			return "", err
		}
		var ours, theirs, ratios, rates []float64
		for range rounds {
			p, err := load(plain.url, plain.pid, r, turn)
			if err != nil {
				return "", err
			}
			o, err := load(url, oidPID, r, turn)
			if err != nil {
				return "", err
			}
			theirs, ours, rates = append(theirs, p.cpu.Seconds()*1e6), append(ours, o.cpu.Seconds()*1e6), append(rates, o.rate)
			ratios = append(ratios, o.cpu.Seconds()/p.cpu.Seconds())
		}
		stop()
		fmt.Fprintf(&b, "| %s | %.0f µs | %.0f µs | %.2f | %.0f |\n", r.name, page.Median(theirs), page.Median(ours), page.Median(ratios), page.Median(rates))
	}
	return b.String(), nil
}

// send sends r once and returns the answer.
func (r *request) send(url string) (kind string, answer []byte, err error) {
	req, err := http.NewRequest(r.method, url+strings.ReplaceAll(r.path, anotherID, "507f1f77bcf86cd799439011"), strings.NewReader(r.body))
	if err != nil {
		return "", nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", r.accept)
	req.Header.Set("Accept-Encoding", "identity")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", nil, err
	}
	defer res.Body.Close()
	if answer, err = io.ReadAll(res.Body); err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: status %s", r.name, res.Status)
	}
	return res.Header.Get("Content-Type"), answer, err
}

// process is a server in another process.
type process struct {
	url string
	pid int
}

// startPlain starts a plain server.
func startPlain(kind string, answer []byte) (p process, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return p, nil, err
	}
	cmd := exec.Command(self, "-plain")
	cmd.Stdin = io.MultiReader(strings.NewReader(kind+"\n"), bytes.NewReader(answer))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return p, nil, err
	}
	if err := cmd.Start(); err != nil {
		return p, nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	if _, err := fmt.Fscanln(out, &p.url); err != nil {
		stop()
		return p, nil, fmt.Errorf("the plain server has not started: %w", err)
	}
	p.pid = cmd.Process.Pid
	return p, stop, nil
}

// load sends a request with wrk for a time.
func load(url string, pid int, r request, turn time.Duration) (costs, error) {
	script, err := os.CreateTemp("", "oid-wrk*.lua")
	if err != nil {
		return costs{}, err
	}
	defer os.Remove(script.Name())
	if _, err := script.WriteString(r.script()); err != nil {
		return costs{}, err
	}
	if err := script.Close(); err != nil {
		return costs{}, err
	}
	before, err := page.ProcessorTimeOf(pid)
	if err != nil {
		return costs{}, err
	}
	seconds := strconv.Itoa(max(int(turn.Seconds()), 1)) + "s"
	out, err := exec.Command("wrk", "-t1", "-c32", "-d"+seconds, "-s", script.Name(), url+r.path).CombinedOutput()
	if err != nil {
		return costs{}, fmt.Errorf("wrk: %w: %s", err, out)
	}
	after, err := page.ProcessorTimeOf(pid)
	if err != nil {
		return costs{}, err
	}
	if strings.Contains(string(out), "Non-2xx") || strings.Contains(string(out), "Socket errors") {
		return costs{}, fmt.Errorf("wrk: %s", out)
	}
	var n int
	var rate float64
	for line := range strings.Lines(string(out)) {
		if _, err := fmt.Sscanf(strings.TrimSpace(line), "%d requests in", &n); err == nil {
			continue
		}
		_, _ = fmt.Sscanf(strings.TrimSpace(line), "Requests/sec: %g", &rate)
	}
	if n == 0 {
		return costs{}, fmt.Errorf("wrk: %s", out)
	}
	return costs{(after - before) / time.Duration(n), rate}, nil
}
