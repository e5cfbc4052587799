package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// block returns the n-th block of a language in docs/deploy.md.
func block(t *testing.T, language string, n int) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllSubmatch(page, -1)
	if len(all) <= n {
		t.Fatalf("docs/deploy.md has %d blocks of %s", len(all), language)
	}
	return string(all[n][1])
}

// replace replaces each old text by the new one after it; all must be there.
func replace(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("no %q in %s", pairs[i], text)
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// certificate writes a certificate for this machine with a number, and its key.
func certificate(t *testing.T, number int64, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(number), DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(name+".new", pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(name+".new", name); err != nil {
			t.Fatal(err)
		}
	}
}

// freePort returns a port on which nobody listens.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// startProgram starts a program that ends with the test, and waits until it listens.
func startProgram(t *testing.T, port, name string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/" + name); err != nil {
			testenv.Missing(t, "no "+name+": apt-get install "+name)
		}
	}
	var out bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_DATA_HOME="+t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		if t.Failed() {
			t.Logf("%s: %s", name, out.String())
		}
	})
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not listen", name)
		}
	}
}

const deployToken = "5d2b0c3f9a7e4d61"

// tokenFile writes the tokens of docs/deploy.md to a file.
func tokenFile(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(name, []byte(block(t, "text", 0)), 0o600); err != nil {
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
	do("POST", base+"v1/ids", "application/json", `{"count":3}`, "e1f0a9b8c7d6e5f4", 403)
	do("POST", base+"v1/ids", "application/json", `{"count":3}`, "wrong-wrong-wrong-wrong", 401)
	do("POST", base+"v1/census", "application/octet-stream", strings.Repeat("507f1f77bcf86cd799439011\n", 100_000), deployToken, 200)
	if about := do("GET", base+"about", "", "", "", 200); !strings.Contains(about, "curl "+strings.TrimRight(base, "/")+"/v1/ids") {
		t.Errorf("the page About does not show %s", base)
	}
	page = do("POST", base+"logout", "", "", "", 200)
	if !strings.Contains(page, "Log in") {
		t.Errorf("after the logout: %s", page)
	}
}

// commandOf returns the arguments of the command in docs/deploy.md, for another URL
// and token file.
func commandOf(t *testing.T, base string) []string {
	line := replace(t, block(t, "sh", 0), "https://ids.example.com/oid/", base, "/etc/oid/tokens", tokenFile(t))
	return strings.Fields(line)[2:]
}

func TestDeployNginx(t *testing.T) {
	folder, port := t.TempDir(), freePort(t)
	base := "https://localhost:" + port + "/oid/"
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	_, server, _ := startServe(ctx, t, commandOf(t, base)...)
	certFile, keyFile := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	certificate(t, 1, certFile, keyFile)
	config := fmt.Sprintf(`daemon off; pid %[1]s/pid; error_log stderr; worker_processes 1;
events {}
http {
	access_log off; client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
	server {
		listen 127.0.0.1:%[2]s ssl http2;
		ssl_certificate %[3]s; ssl_certificate_key %[4]s;
		%[5]s
	}
}`, folder, port, certFile, keyFile, replace(t, block(t, "nginx", 0), "http://127.0.0.1:8024", server))
	name := filepath.Join(folder, "nginx.conf")
	if err := os.WriteFile(name, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	startProgram(t, port, "nginx", "-p", folder, "-e", "stderr", "-c", name)
	browse(t, base, "127.0.0.1")
}

func TestDeployCaddy(t *testing.T) {
	folder, port := t.TempDir(), freePort(t)
	base := "https://localhost:" + port + "/oid/"
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	_, server, _ := startServe(ctx, t, commandOf(t, base)...)
	certFile, keyFile := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	certificate(t, 1, certFile, keyFile)
	config := "{\n\tadmin off\n\tauto_https disable_redirects\n\thttp_port " + freePort(t) + "\n}\n" + replace(t, block(t, "caddy", 0),
		"ids.example.com {", "https://localhost:"+port+" {\n\ttls "+certFile+" "+keyFile, "127.0.0.1:8024", strings.TrimPrefix(server, "http://"))
	name := filepath.Join(folder, "Caddyfile")
	if err := os.WriteFile(name, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	startProgram(t, port, "caddy", "run", "--config", name, "--adapter", "caddyfile")
	browse(t, base, "127.0.0.1")
}

// systemd finds nothing wrong with the units.
func TestDeploySystemd(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd here")
	}
	self, err := exec.LookPath("oid")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	socket, service := filepath.Join(folder, "oid.socket"), filepath.Join(folder, "oid.service")
	for name, text := range map[string]string{
		socket:  block(t, "ini", 0),
		service: replace(t, block(t, "ini", 1), "/usr/local/bin/oid", self),
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(analyze, "verify", "--man=no", socket, service).CombinedOutput()
	if err != nil || strings.Contains(string(out), "oid.s") {
		t.Errorf("%v: %s", err, out)
	}
}
