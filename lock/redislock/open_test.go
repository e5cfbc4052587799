package redislock_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/redislock"
)

// refuses checks that Open fails soon and says what is wrong in some words.
func refuses(t *testing.T, url string, words ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l, err := redislock.Open(ctx, url, nil)
	if err == nil {
		l.Close()
		t.Errorf("Open(%q) is no error", url)
		return
	}
	t.Log(err)
	for _, word := range append(words, "redislock: ") {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("Open(%q): %v; want it to say %q", url, err, word)
		}
	}
	if strings.Contains(err.Error(), "geheim") {
		t.Errorf("Open(%q) shows the password: %v", url, err)
	}
}

func TestOpenBadURL(t *testing.T) {
	for url, word := range map[string]string{
		"":                               "redis://host:port",
		"localhost:6379":                 "redis://host:port",
		"http://:geheim@localhost":       "redis://host:port",
		"redis://:geheim@h:port":         "port",
		"redis://h/notanumber":           "database",
		"redis-sentinel://h:1":           "redis-sentinel://host:port/name",
		"redis-sentinel://h:1/m/x":       "database",
		"redis://h:99999":                "99999: invalid port",
		"redis://h:1?addr=h:70000":       "70000: invalid port",
		"redis-sentinel://h:1,i:65536/m": "65536: invalid port",
	} {
		refuses(t, url, word)
		if _, err := redislock.Open(t.Context(), url, nil); !errors.Is(err, lock.ErrInvalid) {
			t.Errorf("Open(%q): %v, want ErrInvalid", url, err)
		}
	}
}

func TestOpenNobodyThere(t *testing.T) {
	refuses(t, "redis://:geheim@127.0.0.1:"+strconv.Itoa(testenv.FreePort(t)), "connection refused")
}

func TestOpenPassword(t *testing.T) {
	server := testenv.Redis(t, "--requirepass", "geheim")
	refuses(t, server.URL(), "wants a password")
	refuses(t, "redis://:wrong@"+server.Addr, "WRONGPASS")
	open(t, "redis://:geheim@"+server.Addr, 0)
}

func TestOpenReplica(t *testing.T) {
	t.Parallel()
	primary := testenv.Redis(t)
	host, port, _ := strings.Cut(primary.Addr, ":")
	replica := testenv.Redis(t, "--replicaof", host, port)
	var warnings []error
	l, err := redislock.Open(t.Context(), replica.URL(), &redislock.Options{Warn: func(err error) { warnings = append(warnings, err) }})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if text := fmt.Sprint(warnings); len(warnings) != 1 || !strings.Contains(text, "read-only") || !strings.Contains(text, primary.Addr) {
		t.Errorf("warnings %q, want one that names the primary %s", text, primary.Addr)
	}
	if _, err := l.TryAcquire(t.Context(), "job", nil); err == nil || errors.Is(err, lock.ErrHeld) || !strings.Contains(err.Error(), "READONLY") {
		t.Errorf("TryAcquire at a replica: %v, want an error that says READONLY", err)
	}
}

func TestOpenNoRedis(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	refuses(t, strings.Replace(web.URL, "http", "redis", 1), "protocol of Redis")

	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	refuses(t, "redis://"+silent.Addr().String(), "no answer")

	hangsUp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hangsUp.Close()
	go func() {
		for {
			c, err := hangsUp.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	refuses(t, "redis://"+hangsUp.Addr().String(), "hung up")
}

func TestOpenHonoursCtx(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	server := testenv.Redis(t)
	if _, err := redislock.Open(ctx, server.URL(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Open with a ctx that is done: %v, want Canceled", err)
	}
}

func TestOpenTLS(t *testing.T) {
	testenv.RedisKnows(t, "TLS")
	cert, key := certificate(t)
	port := strconv.Itoa(testenv.FreePort(t))
	// The test environment itself talks to the plain port.
	server := testenv.Redis(t, "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert, "--tls-auth-clients", "no")
	addr := "127.0.0.1:" + port
	const patient = "dial_timeout=20s&write_timeout=20s" // also on a busy machine
	refuses(t, "redis://"+addr+"?"+patient, "rediss://")
	refuses(t, "valkey://"+addr+"?"+patient, "rediss://")
	refuses(t, "rediss://"+addr+"?"+patient, "certificate")
	refuses(t, "valkeys://"+addr+"?"+patient, "certificate")
	refuses(t, "rediss://"+server.Addr, "redis://)")
	l := open(t, "rediss://"+addr+"?skip_verify&"+patient, 0)
	lease, err := l.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}

// certificate writes a certificate and its key to files.
func certificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", cert), write("key.pem", "PRIVATE KEY", private)
}

func TestOpenWarnsOfEviction(t *testing.T) {
	for policy, dangerous := range map[string]bool{"allkeys-lru": true, "volatile-ttl": true, "noeviction": false} {
		server := testenv.Redis(t, "--maxmemory", "100mb", "--maxmemory-policy", policy)
		var warnings []error
		l, err := redislock.Open(t.Context(), server.URL(), &redislock.Options{Warn: func(err error) { warnings = append(warnings, err) }})
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		if (len(warnings) == 1) != dangerous {
			t.Errorf("policy %s: warnings %v", policy, warnings)
		}
		if dangerous && !strings.Contains(warnings[0].Error(), policy) {
			t.Errorf("warning does not name the policy: %v", warnings[0])
		}
	}
}

// A Redis that is full refuses new locks, and says so until it has room again. Those that are
// held can be renewed, released and taken by those that wait.
func TestFullRedis(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "takes seconds")
	server := testenv.Redis(t)
	const ttl = 6 * time.Second
	l := open(t, server.URL(), ttl)
	lease, err := l.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	next := make(chan error)
	go func() {
		lease, err := l.Acquire(t.Context(), "job", nil)
		if err == nil {
			err = lease.Release()
		}
		next <- err
	}()
	until(t, "waiter", func() bool { return server.CLI("ZCARD", "oid:lock:{job}:queue") == "1" })
	server.CLI("CONFIG", "SET", "maxmemory", "1")
	if _, err := l.TryAcquire(t.Context(), "other", nil); err == nil || !strings.Contains(err.Error(), "OOM") {
		t.Errorf("TryAcquire in a full Redis: %v, want OOM", err)
	}
	newcomer := make(chan error)
	go func() {
		_, err := l.Acquire(t.Context(), "other", nil)
		newcomer <- err
	}()
	time.Sleep(ttl + time.Second)
	if err := lease.Check(); err != nil {
		t.Errorf("the lease could not be renewed: %v", err)
	}
	if err := lease.Release(); err != nil {
		t.Errorf("Release: %v", err)
	}
	if err := <-next; err != nil {
		t.Errorf("waiter: %v", err)
	}
	server.CLI("CONFIG", "SET", "maxmemory", "0")
	if err := <-newcomer; err != nil {
		t.Errorf("newcomer: %v", err)
	}
}

func TestBadTTL(t *testing.T) {
	server := testenv.Redis(t)
	for _, ttl := range []time.Duration{-1, time.Nanosecond, lock.MinTTL - 1, lock.MaxTTL + 1} {
		if _, err := redislock.Open(t.Context(), server.URL(), &redislock.Options{TTL: ttl}); !errors.Is(err, lock.ErrInvalid) {
			t.Errorf("TTL %v: %v, want ErrInvalid", ttl, err)
		}
	}
}

// A primary that turns into a replica fails Acquire only when its ctx ends, and
// not at all if it turns back. Meanwhile Acquire opens few connections.
func TestReadOnlyForAWhile(t *testing.T) {
	t.Parallel()
	server := testenv.Redis(t)
	l := open(t, server.URL(), 0) // a short TTL would leave little time for an answer
	server.CLI("REPLICAOF", "127.0.0.1", "1")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	connections := func() (n int) {
		_, rest, _ := strings.Cut(server.CLI("INFO", "stats"), "total_connections_received:")
		fmt.Sscan(rest, &n)
		return n
	}
	before := connections()
	for i := range 20 {
		go l.Acquire(ctx, fmt.Sprint("other ", i), nil)
	}
	if _, err := l.Acquire(ctx, "job", nil); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "READONLY") {
		t.Errorf("Acquire: %v, want DeadlineExceeded and READONLY", err)
	}
	if n := connections() - before; n < 2 || n > 20 { // a few are of the test, and there are two kinds
		t.Errorf("%d connections within 3 s, want a new one at most each half second", n)
	}
	back := time.AfterFunc(300*time.Millisecond, func() { server.CLI("REPLICAOF", "NO", "ONE") })
	defer back.Stop()
	lease, err := l.Acquire(t.Context(), "job", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}

// What is not a lock under a lock's key is an error and is left alone.
func TestForeignKey(t *testing.T) {
	server := testenv.Redis(t)
	l := open(t, server.URL(), 0)
	server.CLI("SET", "oid:lock:{job}", "something else")
	if _, err := l.TryAcquire(t.Context(), "job", nil); err == nil {
		t.Error("TryAcquire took a key that is no lock")
	}
	if _, err := l.Status(t.Context(), "job"); err == nil {
		t.Error("Status of a key that is no lock is no error")
	}
	if _, err := l.TryAcquire(t.Context(), "other", nil); err != nil {
		t.Fatal(err)
	}
	all, err := l.List(t.Context())
	if len(all) != 1 || all[0].Name != "other" || err == nil || !strings.Contains(err.Error(), `status of "job": `) {
		t.Errorf("List: %v, %v; want the other lock, and an error that names the key that is no lock", all, err)
	}
	server.CLI("DEL", "oid:lock:{job}")
	server.CLI("LPUSH", "oid:lock:{job}", "x")
	if _, err := l.Acquire(t.Context(), "job", nil); err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
		t.Errorf("Acquire of a list: %v, want WRONGTYPE", err)
	}
	if got := server.CLI("LRANGE", "oid:lock:{job}", "0", "-1"); got != "x" {
		t.Errorf("the list is %q now", got)
	}
}

// A lock that another version holds in another form is an error and is left alone.
func TestValueOfAnotherVersion(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "takes seconds")
	server := testenv.Redis(t)
	l := open(t, server.URL(), 0)
	const key, newer = "oid:lock:{job}", "1795166651598985 192.0.2.1:0:1795166651598985:4711/507f1f77bcf86cd799439011 v3 more"
	server.CLI("SET", key, newer, "PX", "30000")
	wait, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, acquire := l.Acquire(wait, "job", nil)
	_, try := l.TryAcquire(t.Context(), "job", nil)
	_, status := l.Status(t.Context(), "job")
	for name, err := range map[string]error{"Acquire": acquire, "TryAcquire": try, "Status": status} {
		if err == nil || !strings.Contains(err.Error(), "another version of oid may use this Redis") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := server.CLI("GET", key); got != newer {
		t.Errorf("the value is %q now", got)
	}
}
