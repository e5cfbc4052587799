package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// The page works from web servers that have been told nothing about it, below a path.
func TestServers(t *testing.T) {
	folder := t.TempDir()
	for name, data := range built(t) {
		path := filepath.Join(folder, "tools", "ids", name)
		testenv.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		testenv.NoError(t, os.WriteFile(path, data, 0o644))
	}
	browser := testenv.Chromium(t)
	for name, start := range map[string]func(port string){
		"python": func(port string) {
			testenv.Start(t, testenv.Program(t, "python3", "python3"), "-m", "http.server", "--bind", "127.0.0.1", "--directory", folder, port)
		},
		"nginx": func(port string) {
			config := filepath.Join(folder, "nginx.conf")
			testenv.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `daemon off; master_process off; pid %[1]s/pid; error_log stderr; events {}
http { include /etc/nginx/mime.types; access_log off; gzip on; gzip_static on; gzip_types *;
	client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
	server { listen 127.0.0.1:%[2]s; root %[1]s; } }`, folder, port), 0o644))
			testenv.Start(t, testenv.Program(t, "nginx", "nginx"), "-p", folder, "-e", "stderr", "-c", config)
		},
		"caddy": func(port string) {
			testenv.Start(t, testenv.Program(t, "caddy", "caddy"), "file-server", "--root", folder, "--listen", "127.0.0.1:"+port)
		},
	} {
		t.Run(name, func(t *testing.T) {
			port := strconv.Itoa(testenv.FreePort(t))
			start(port)
			url := "http://127.0.0.1:" + port + "/tools/ids" // the server adds the slash
			testenv.Await(t, name, func() error {
				reply, err := http.Get(url)
				if err == nil {
					reply.Body.Close()
				}
				return err
			})
			b := openIn(t, browser, url+"#id=507f1f77bcf86cd799439011")
			b.await(`document.querySelector('#result').textContent`, "classic")
			b.await(`(await navigator.serviceWorker.ready).active.state`, "activated")
		})
	}
}

// Whatever a server makes of oid.wasm.gz, the page runs it or says what failed, and the time
// of an id shows.
func TestStrangeServers(t *testing.T) {
	data := built(t)["oid.wasm.gz"]
	browser := testenv.Chromium(t)
	r := testenv.Must(gzip.NewReader(bytes.NewReader(data)))(t)
	plain := testenv.Must(io.ReadAll(r))(t)
	answer := func(code int, body []byte, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			_, _ = w.Write(body)
		}
	}
	const shown, wrong = `document.querySelector('#result').textContent`, `document.querySelector('#trouble')?.textContent`
	for _, c := range []struct {
		name, expression, want string
		answer                 http.HandlerFunc
	}{
		{"it says that the file is compressed", shown, "classic", answer(200, data, "Content-Type", "application/wasm", "Content-Encoding", "gzip")},
		{"it unpacks the file", shown, "classic", answer(200, plain, "Content-Type", "application/wasm")},
		{"it is slow", shown, "classic", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(data[:len(data)/2])
			_ = http.NewResponseController(w).Flush()
			time.Sleep(2500 * time.Millisecond) // it shows "loading" after two seconds
			_, _ = w.Write(data[len(data)/2:])
		}},
		{"wrong type", shown, "classic", answer(200, data, "Content-Type", "text/html")},
		{"HTML for missing files", wrong, "oid.wasm.gz: the server answers with something else", answer(200, []byte("<!doctype html><title>Welcome</title>"), "Content-Type", "text/html")},
		{"not there", wrong, "oid.wasm.gz: the server answers with status 404", answer(404, nil)},
		{"empty", wrong, "oid.wasm.gz: the server answers with something else", answer(200, nil)},
		{"the file was cut", wrong, fmt.Sprintf("oid.wasm.gz: WebAssembly compilation aborted: Network error: Failed to read from a ReadableStream., after %d bytes", len(data)/2), answer(200, data[:len(data)/2])},
		{"the connection is lost", wrong, "etwork error", answer(200, data[:len(data)/2], "Content-Length", strconv.Itoa(len(data)))},
		{"another program", wrong, "oid.wasm.gz: WebAssembly.instantiateStreaming(): expected version", answer(200, append([]byte("\x00asm"), data...))},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t)
			s.instead["oid.wasm.gz"] = c.answer
			b := openIn(t, browser, s.URL+"/a/b/#id=507f1f77bcf86cd799439011")
			b.await(c.expression, c.want) // Chromium notices a lost connection before or while it compiles
			if c.expression == wrong {
				b.await(wrong, "oid.wasm.gz: ")
			} else if b.eval(`document.querySelector('#said').className`) != "said" {
				t.Error("the message about loading stays on")
			} else { // the file as this server sends it is kept for use without a network
				b.await(`(await navigator.serviceWorker.ready).active.state`, "activated")
			}
			b.await(`document.querySelector('#result .says time').textContent`, "2012-10-17 21:13:27 UTC")
		})
	}
}
