package testenv

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// DocBlock returns the n-th block of a language in a page of the documentation, with
// each old text replaced by the new one after it. All old texts must be there.
func DocBlock(t testing.TB, page, language string, n int, oldNew ...string) string {
	t.Helper()
	data := Must(os.ReadFile(page))(t)
	all := regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllSubmatch(data, -1)
	if len(all) <= n {
		t.Fatalf("%s has %d blocks of %s", page, len(all), language)
	}
	text := string(all[n][1])
	for i := 0; i < len(oldNew); i += 2 {
		if !strings.Contains(text, oldNew[i]) {
			t.Fatalf("%s: no %q in %s", page, oldNew[i], text)
		}
		text = strings.ReplaceAll(text, oldNew[i], oldNew[i+1])
	}
	return text
}

// Nginx starts nginx with TLS at https://localhost:PORT, a location and upstreams.
func Nginx(t testing.TB, port int, location string, upstreams ...string) {
	t.Helper()
	folder := t.TempDir()
	certFile, keyFile := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	Certificate(t, 1, certFile, keyFile)
	// One process, so that nothing outlives it when it is killed.
	startProxy(t, port, folder, "nginx", "nginx.conf", fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log stderr;
events {}
http {
	access_log off;
	client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
	%[6]s
	server {
		listen 127.0.0.1:%[2]d ssl http2;
		ssl_certificate %[3]s; ssl_certificate_key %[4]s;
		%[5]s
	}
}`, folder, port, certFile, keyFile, location, strings.Join(upstreams, "\n")), "-p", folder, "-e", "stderr", "-c")
}

// Caddy starts Caddy at https://localhost:PORT with the rest of a site's block.
func Caddy(t testing.TB, port int, site string) {
	t.Helper()
	folder := t.TempDir()
	certFile, keyFile := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	Certificate(t, 1, certFile, keyFile)
	t.Setenv("XDG_DATA_HOME", folder)
	t.Setenv("XDG_CONFIG_HOME", folder)
	config := fmt.Sprintf("{\n\tadmin off\n\tauto_https disable_redirects\n\thttp_port %d\n}\nhttps://localhost:%d {\n\ttls %s %s\n%s", FreePort(t), port, certFile, keyFile, site)
	startProxy(t, port, folder, "caddy", "Caddyfile", config, "run", "--adapter", "caddyfile", "--config")
}

// HAProxyTLS starts HAProxy with frontends and backends. Its certificate for localhost replaces
// /etc/haproxy/ids.example.com.pem.
func HAProxyTLS(t testing.TB, port int, config string) {
	t.Helper()
	folder := t.TempDir()
	certFile, keyFile := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	Certificate(t, 1, certFile, keyFile)
	both := append(Must(os.ReadFile(certFile))(t), Must(os.ReadFile(keyFile))(t)...)
	NoError(t, os.WriteFile(certFile, both, 0o600))
	config = strings.ReplaceAll(config, "/etc/haproxy/ids.example.com.pem", certFile)
	startProxy(t, port, folder, "haproxy", "haproxy.cfg", config, "-db", "-f")
}

// startProxy starts a program with a configuration file, whose name is the last
// argument, and waits until it listens.
func startProxy(t testing.TB, port int, folder, name, file, config string, args ...string) {
	t.Helper()
	Long(t, "starts "+name)
	path := Program(t, name, name)
	file = filepath.Join(folder, file)
	NoError(t, os.WriteFile(file, []byte(config), 0o600))
	Start(t, path, append(args, file)...)
	Await(t, name, func() error {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = c.Close()
		}
		return err
	})
}

// HAProxy starts HAProxy at http://127.0.0.1:PORT with the rest of its configuration, which has
// a default backend.
func HAProxy(t testing.TB, port int, backends string) {
	t.Helper()
	startProxy(t, port, t.TempDir(), "haproxy", "haproxy.cfg", fmt.Sprintf(`defaults
  mode http
  timeout connect 1s
  timeout client 5s
  timeout server 1s
frontend in
  bind 127.0.0.1:%d
%s`, port, backends), "-f")
}
