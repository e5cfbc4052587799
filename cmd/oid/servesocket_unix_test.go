//go:build unix

package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// socketOfSystemd returns a socket that listens until the test ends, for ExtraFiles of the
// command, and the URL of a server at it.
func socketOfSystemd(t *testing.T) (socket *os.File, url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if socket, err = l.(*net.TCPListener).File(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	return socket, "http://" + l.Addr().String()
}

// systemd's side of the agreement: the socket is passed, the program reports that it
// is ready, that it lives and that it stops, and the next one serves at the same
// socket.
func TestServeUnderSystemd(t *testing.T) {
	t.Parallel()
	socket, url := socketOfSystemd(t)
	notified := filepath.Join(t.TempDir(), "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: notified, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	hears := func(want string) {
		t.Helper()
		buf := make([]byte, 1000)
		for {
			if err := manager.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			n, err := manager.Read(buf)
			if err != nil {
				t.Fatalf("no %s: %v", want, err)
			}
			if strings.Contains(string(buf[:n]), want) {
				return
			}
		}
	}
	store := "sqlite:" + filepath.Join(t.TempDir(), "store.db")
	for range 2 {
		// The shell knows the pid that the program will have.
		serve := exec.Command("sh", "-c", `LISTEN_PID=$$ exec oid serve --store "$0"`, store)
		serve.Env = append(os.Environ(), "LISTEN_FDS=1", "NOTIFY_SOCKET="+notified)
		serve.ExtraFiles = []*os.File{socket}
		serve.Stderr = os.Stderr
		if err := serve.Start(); err != nil {
			t.Fatal(err)
		}
		hears("READY=1")
		res, err := http.Get(url + "/livez")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		http.DefaultClient.CloseIdleConnections()
		if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		hears("STOPPING=1")
		if err := serve.Wait(); err != nil {
			t.Errorf("it ends with %v", err)
		}
	}
	// Two wishes at once are one too many.
	both := exec.Command("sh", "-c", `LISTEN_PID=$$ exec oid serve --listen 127.0.0.1:0 --store "$0"`, store)
	both.Env = append(os.Environ(), "LISTEN_FDS=1")
	both.ExtraFiles = []*os.File{socket}
	if out, err := both.CombinedOutput(); err == nil || both.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "--listen asks for another") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestServeOnUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "oid.sock")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	register := func(header, value string) (int, string) {
		t.Helper()
		req, err := http.NewRequest("POST", "http://localhost/v1/processes", strings.NewReader(`{"name":"a","pid":7}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if header != "" {
			req.Header.Set(header, value)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(body)
	}
	serve, url, log := startServe(ctx, t, "--listen", "unix:"+path)
	go func() {
		for log.Scan() { // so that it need not wait
		}
	}()
	if url != "unix:"+path {
		t.Errorf("it says that it serves on %s", url)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("%v, %v", info, err)
	}
	if status, body := register("", ""); status != 201 || !strings.Contains(body, `"127.0.0.1:0:`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := register("X-Forwarded-For", "203.0.113.7"); status != 403 || !strings.Contains(body, "--token-file") {
		t.Errorf("through a proxy, without a token: %d %s", status, body)
	}
	if got := oid(t, "", "serve", "--listen", "unix:"+path, "--store", "sqlite:"+filepath.Join(t.TempDir(), "s.db")); got.code != 1 || !strings.Contains(got.err, "another program serves there") {
		t.Errorf("a second one: %+v", got)
	}
	// What a killed program leaves behind does not keep the next one from serving.
	if err := serve.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = serve.Wait()
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("the socket is gone: %v", err)
	}
	startServe(ctx, t, "--listen", path)
	if status, body := register("", ""); status != 201 {
		t.Errorf("the next one: %d %s", status, body)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		"unix:http.sock":               "such as --listen " + filepath.Join(here, "http.sock") + "\n",
		"unix:@http":                   "such as --listen unix:/run/oid/http.sock\n",
		"http.sock":                    "such as 127.0.0.1:8024 or unix:/run/oid/http.sock\n",
		"/" + strings.Repeat("x", 107): "at most 107, choose a shorter one\n",
	} {
		if got := oid(t, "", "serve", "--listen", value, "--store", "memory:"); got.code != 2 || !strings.Contains(got.err, want) {
			t.Errorf("--listen %s: %+v, want %q", value, got, want)
		}
	}
}

// nginx reaches the server through a Unix socket of a group that it is in.
func TestDeployUnixSocket(t *testing.T) {
	port := testenv.FreePort(t)
	base := fmt.Sprintf("https://localhost:%d/oid/", port)
	path := filepath.Join(t.TempDir(), "http.sock")
	group := os.Getgid()
	if os.Getuid() == 0 {
		group = 65534 // any other one
	}
	args := commandOf(t, 1, base)
	for i, arg := range args {
		switch arg {
		case "unix:/run/oid/http.sock":
			args[i] = "unix:" + path
		case "www-data":
			args[i] = strconv.Itoa(group)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	startServe(ctx, t, args...)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := int(info.Sys().(*syscall.Stat_t).Gid); info.Mode().Perm() != 0o660 || got != group {
		t.Errorf("the socket has mode %v and group %d, want rw-rw---- and %d", info.Mode(), got, group)
	}
	testenv.Nginx(t, port, testenv.DocBlock(t, deployPage, "nginx", 0, "http://127.0.0.1:8024", "http://unix:"+path))
	browse(t, base, "127.0.0.1")
	for _, c := range [][]string{{"--mode", "0660"}, {"--group", "www-data"}, {"--listen", "unix:" + path + "2", "--mode", "rw"}} {
		if got := oid(t, "", append([]string{"serve"}, c...)...); got.code != 2 || !strings.Contains(got.err, "--mode") {
			t.Errorf("%v: %+v", c, got)
		}
	}
	if got := oid(t, "", "serve", "--listen", "unix:"+path+"2", "--group", "no-such-group"); got.code != 1 || !strings.Contains(got.err, "--group no-such-group: no such group\n") {
		t.Errorf("a group that does not exist: %+v", got)
	}
}

// A certificate that was replaced is used without a restart, and one that is broken is
// not.
func TestServeTLS(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	certFile, keyFile := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	testenv.Certificate(t, 1, certFile, keyFile)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	_, url, log := startServe(ctx, t, "--tls-cert", certFile, "--tls-key", keyFile)
	lines := make(chan string, 1000)
	go func() {
		for log.Scan() {
			lines <- log.Text()
		}
	}()
	if !strings.HasPrefix(url, "https://") {
		t.Errorf("it says that it serves on %s", url)
	}
	serial := func() int64 {
		t.Helper()
		c, err := tls.Dial("tcp", strings.TrimPrefix(url, "https://"), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || res.StatusCode != 200 {
			t.Errorf("%v, %v", res, err)
		}
		return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	if n := serial(); n != 1 {
		t.Errorf("certificate %d", n)
	}
	testenv.Certificate(t, 2, certFile, keyFile)
	for end := time.Now().Add(30 * time.Second); serial() != 2; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the new certificate is not used")
		}
	}
	time.Sleep(10 * time.Millisecond) // so that the time of the file is another
	if err := os.WriteFile(certFile, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	for said := false; !said; {
		if n := serial(); n != 2 {
			t.Fatalf("certificate %d", n)
		}
		select {
		case line := <-lines:
			said = strings.Contains(line, "the server keeps the one that it has")
		case <-time.After(200 * time.Millisecond):
		}
	}
	for _, args := range [][]string{{"--tls-cert", certFile}, {"--tls-key", keyFile}} {
		if got := oid(t, "", append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...); got.code != 2 || !strings.Contains(got.err, "give both --tls-cert and --tls-key, or neither") {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

// Somebody who may write to the folder of a socket, such as a container that mounts it, cannot
// make root change the permissions and the group of another file.
func TestSocketReplacedByLink(t *testing.T) {
	t.Parallel()
	secret, link := filepath.Join(t.TempDir(), "secret"), filepath.Join(t.TempDir(), "agent.sock")
	for _, err := range []error{os.WriteFile(secret, nil, 0o600), os.Symlink(secret, link)} {
		testenv.NoError(t, err)
	}
	for _, group := range []string{"", strconv.Itoa(os.Getgid())} {
		if err := (&unixFlags{mode: "0666", group: group}).apply(link); err == nil {
			t.Error("the settings were applied")
		}
		if info := testenv.Must(os.Stat(secret))(t); info.Mode() != 0o600 {
			t.Fatalf("the other file has the permissions %v", info.Mode())
		}
	}
}
