package server_test

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// peak returns the most memory that the process has had so far, in MiB.
func (a *apart) peak(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", a.pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		t.Fatalf("%s", status)
	}
	kib, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kib >> 10
}

// Many pasted megabytes at once are answered or refused, in a part of the memory that
// the server may take.
func TestMemoryOfPastes(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the peak is known on Linux only")
	}
	s := serveApart(t)
	s.get(t, "/?id=507f1f77bcf86cd799439011")
	before := s.peak(t)
	paste := "id=" + strings.Repeat("507f1f77bcf86cd799439011%0A", 1<<20/27-1)
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	pastes := testenv.Size(32, 64)
	for range pastes {
		all.Go(func() {
			got := s.do(t, "POST", "/", strings.NewReader(paste), "Content-Type", "application/x-www-form-urlencoded")
			if got.status == 503 && got.header.Get("Retry-After") == "" {
				t.Error("503 without Retry-After")
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[got.status]++
		})
	}
	all.Wait()
	grown := s.peak(t) - before
	t.Logf("%d MiB, statuses %v", grown, statuses)
	if grown > 400 {
		t.Errorf("%d pasted megabytes took %d MiB", pastes, grown)
	}
	if statuses[200] == 0 || statuses[200]+statuses[503] != pastes {
		t.Errorf("statuses %v, want 200 and 503", statuses)
	}
}
