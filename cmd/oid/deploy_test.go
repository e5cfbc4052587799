package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

const (
	deployPage = "../../docs/deploy.md"
	adoptPage  = "../../docs/how-to/adopt.md"
)

const deployToken = "5d2b0c3f9a7e4d61b8c05e2f7a913d46"

// tokenFile writes the tokens of docs/deploy.md to a file.
func tokenFile(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(name, []byte(testenv.DocBlock(t, deployPage, "text", 0)), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// browse does what somebody does at a server behind a proxy: log in and look around,
// while a program registers and creates ids.
func browse(t *testing.T, base, wantAddress string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, Timeout: 30 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	do := func(method, path, contentType, body, token string, want int) string {
		t.Helper()
		req, err := http.NewRequest(method, path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", contentType)
		req.Header.Set("Accept", "text/html")
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
			req.Header.Set("Accept", "application/json")
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		got, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != want {
			t.Errorf("%s %s: %d, want %d: %v %s", method, path, res.StatusCode, want, err, got)
		}
		return string(got)
	}
	page := do("GET", base+"range?since=2h", "", "", "", 200)
	if !strings.Contains(page, "Log in") {
		t.Errorf("without a login: %s", page)
	}
	page = do("POST", base+"login", "application/x-www-form-urlencoded", url.Values{"token": {deployToken}, "next": {"/range?since=2h"}}.Encode(), "", 200)
	if !strings.Contains(page, "ObjectId(") {
		t.Errorf("after the login: %s", page)
	}
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	if len(jar.Cookies(u)) != 1 {
		t.Errorf("cookies %v", jar.Cookies(u))
	}
	for _, link := range regexp.MustCompile(`(?:href|src|action)="(/[^"]*)"`).FindAllStringSubmatch(page, -1) {
		if strings.HasSuffix(link[1], "/logout") {
			continue
		}
		do("GET", u.Scheme+"://"+u.Host+link[1], "", "", "", 200)
	}
	if got := do("POST", base+"v1/processes", "application/json", `{"name":"worker","pid":7}`, deployToken, 201); !strings.Contains(got, `"gpid":"`+wantAddress+`:0:`) {
		t.Errorf("the process has registered as %s, want its address %s", got, wantAddress)
	}
	do("POST", base+"v1/ids", "application/json", `{"count":3}`, deployToken, 200)
	do("POST", base+"v1/ids", "application/json", `{"count":3}`, "e1f0a9b8c7d6e5f40d2c4b6a8193f7e5", 403)
	do("POST", base+"v1/ids", "application/json", `{"count":3}`, "wrong-wrong-wrong-wrong", 401)
	do("POST", base+"v1/census", "application/octet-stream", strings.Repeat("507f1f77bcf86cd799439011\n", 100_000), deployToken, 200)
	page = do("POST", base+"logout", "", "", "", 200)
	if !strings.Contains(page, "Log in") {
		t.Errorf("after the logout: %s", page)
	}
}

// commandOf returns the arguments of the n-th command in docs/deploy.md, for another URL
// and token file.
func commandOf(t *testing.T, n int, base string) []string {
	t.Helper()
	line := testenv.DocBlock(t, deployPage, "sh", n, "https://ids.example.com/oid/", base, "/etc/oid/tokens", tokenFile(t))
	return strings.Fields(line)[2:]
}

func TestDeployNginx(t *testing.T) {
	port := testenv.FreePort(t)
	base := fmt.Sprintf("https://localhost:%d/oid/", port)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	_, server, _ := startServe(ctx, t, commandOf(t, 0, base)...)
	testenv.Nginx(t, port, testenv.DocBlock(t, deployPage, "nginx", 0, "http://127.0.0.1:8024", server))
	browse(t, base, "127.0.0.1")
}

func TestDeployCaddy(t *testing.T) {
	port := testenv.FreePort(t)
	base := fmt.Sprintf("https://localhost:%d/oid/", port)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	_, server, _ := startServe(ctx, t, commandOf(t, 0, base)...)
	testenv.Caddy(t, port, testenv.DocBlock(t, deployPage, "caddy", 0, "ids.example.com {\n", "", "127.0.0.1:8024", strings.TrimPrefix(server, "http://")))
	browse(t, base, "127.0.0.1")
}

// systemd finds nothing wrong with the units, and the service of the packages is well
// confined.
func TestDeploySystemd(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed; .ci/setup release does that")
	}
	self, err := exec.LookPath("oid")
	if err != nil {
		t.Fatal(err)
	}
	const packaged = "../../release/package/oid.service"
	// From 0, the best, to 100: with more, a programming error in the server reaches what
	// it does not need.
	const wellConfined = "20"
	if out, err := exec.Command(analyze, "security", "--offline=true", "--threshold="+wellConfined, packaged).CombinedOutput(); err != nil {
		t.Errorf("systemd-analyze security: %v: %s", err, out)
	}
	text, err := os.ReadFile(packaged)
	if err != nil {
		t.Fatal(err)
	}
	for name, unit := range map[string]struct{ page, service string }{
		"oid":       {deployPage, string(text)},
		"oid-agent": {adoptPage, testenv.DocBlock(t, adoptPage, "ini", 1)},
	} {
		folder := t.TempDir()
		socket, service := filepath.Join(folder, name+".socket"), filepath.Join(folder, name+".service")
		for file, text := range map[string]string{
			socket:  testenv.DocBlock(t, unit.page, "ini", 0),
			service: strings.ReplaceAll(unit.service, "/usr/bin/oid", self),
		} {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		out, err := exec.Command(analyze, "verify", "--man=no", socket, service).CombinedOutput()
		if err != nil || strings.Contains(string(out), name+".s") {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// The commands that the page and the file for Compose give to the image, on which the
// program serves by the tokens.
func TestDeployContainer(t *testing.T) {
	compose, err := os.ReadFile("../../examples/deploy/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if wrong := testenv.CheckManifest(t, "compose", string(compose)); wrong != "" {
		t.Errorf("compose.yaml: %s", wrong)
	}
	if testenv.CheckManifest(t, "compose", strings.ReplaceAll(string(compose), "depends_on", "depends")) == "" {
		t.Error("compose.yaml: a wrong word is not noticed")
	}
	inCompose := regexp.MustCompile(`(?m)command: \[(.*)\]$`).FindStringSubmatch(string(compose))
	inPage := regexp.MustCompile(`(?m)^docker run .* ghcr.io/oidkit/oid (.*)$`).FindStringSubmatch(testenv.DocBlock(t, deployPage, "sh", 3))
	if inCompose == nil || inPage == nil {
		t.Fatalf("commands %q, %q", inCompose, inPage)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for _, command := range []string{strings.NewReplacer(`"`, "", ",", "").Replace(inCompose[1]), inPage[1]} {
		rest, ok := strings.CutPrefix(strings.Replace(command, "/run/secrets/tokens", tokenFile(t), 1), "serve --listen :8024 ")
		if !ok {
			t.Errorf("the command %q", command)
		}
		_, server, _ := startServe(ctx, t, strings.Fields(rest)...)
		for token, want := range map[string]int{"": 401, deployToken: 200} {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/v1/processes", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != want {
				t.Errorf("%s: status %d with the token %q, want %d", command, res.StatusCode, token, want)
			}
		}
	}
}
