package server_test

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/server"
)

// loaded is the report of the other process of TestLoad.
type loaded struct {
	Requests map[string]int
	IDs      int
	Repeated int
	Errors   []string
}

// Mixed requests from another process over 200 connections: no error, no id twice,
// the memory stays flat, and being stopped in the middle loses no answer.
func TestLoad(t *testing.T) {
	if url := os.Getenv("OID_LOAD_URL"); url != "" {
		json.NewEncoder(os.Stdout).Encode(load(url, 200))
		os.Exit(0)
	}
	length := testenv.Size(time.Second, 10*time.Second)
	if soak() {
		length = 10 * time.Minute
	}
	r := serve(t, server.Options{
		Drain: testenv.Size(time.Second, 5*time.Second), Grace: time.Minute,
		// On a machine that is busy with 200 connections and their client, slow is
		// not broken.
		Limits: server.Limits{Uploads: 200, Store: time.Minute},
	})
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLoad$", "-test.timeout=0")
	child.Env = append(os.Environ(), "OID_LOAD_URL="+r.url)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	// What the requests of a moment hold comes and goes: the least of some moments is
	// what stays.
	heap := func() int64 {
		least := int64(math.MaxInt64)
		for range 5 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			least = min(least, int64(m.HeapAlloc))
			time.Sleep(100 * time.Millisecond)
		}
		return least
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() < 200 && time.Now().Before(deadline); { // the client starts
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(length / 3)
	early, goroutines := heap(), runtime.NumGoroutine()
	time.Sleep(length * 2 / 3)
	late := heap()
	if grown := late - early; grown > 32<<20 {
		t.Errorf("the memory has grown by %d MiB in %v", grown>>20, length*2/3)
	}
	if n := runtime.NumGoroutine(); n > goroutines+200 {
		t.Errorf("there were %d goroutines, and are now %d", goroutines, n)
	}
	if err := r.stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	var got loaded
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
	for _, e := range got.Errors {
		t.Errorf("a client saw: %s", e)
	}
	if got.Repeated != 0 {
		t.Errorf("%d ids were given out twice", got.Repeated)
	}
	total := 0
	for kind, n := range got.Requests {
		if total += n; n == 0 {
			t.Errorf("no request of the kind %s", kind)
		}
	}
	if got.IDs == 0 || total == 0 {
		t.Error("nothing was asked for")
	}
	t.Logf("%d requests in %v, %d ids, heap %d KiB early and %d KiB late; %v", total, length, got.IDs, early>>10, late>>10, got.Requests)
}
