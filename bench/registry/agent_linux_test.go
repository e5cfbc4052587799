package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/pgstore"
	"github.com/oidkit/oid/store/sqlitestore"
)

var (
	agentProcesses = flag.Int("agent-processes", 100, "how many processes are connected to the agent")
	agentTime      = flag.Duration("agent-time", 3*time.Second, "for how long processes are started and killed")
	agentRate      = flag.Int("agent-rate", 20, "how many of each a second")
)

// agentEnd is how long after a kill the end of the process is recorded.
const agentEnd = 2 * time.Second

// crowd are the processes of testdata/crowd.c.
type crowd struct {
	in      io.Writer
	started chan connected
}

// connected is a process that has its answer.
type connected struct {
	pid  int
	gpid gpid.GPID
}

// TestAgent connects processes to "oid agent", then starts and kills some each second. All
// have to be recorded, and each end within agentEnd of the kill.
//
//	go test ./registry -run Agent -v -agent-processes 10000 -agent-rate 100 -agent-time 5m
func TestAgent(t *testing.T) {
	folder := t.TempDir()
	file, socket := filepath.Join(folder, "registry.db"), filepath.Join(folder, "agent.sock")
	where := "sqlite:" + file
	if *simPostgres != "" {
		where = *simPostgres
	}
	child := exec.Command(buildOid(t), "agent", "--store", where, "--listen", socket)
	var log bytes.Buffer
	child.Stderr = &log
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = child.Process.Signal(syscall.SIGTERM)
		_ = child.Wait()
		if t.Failed() || strings.Count(log.String(), "\n") > 1 {
			t.Logf("agent: %s", log.String())
		}
	})
	for _, err := os.Stat(socket); err != nil; _, err = os.Stat(socket) {
		time.Sleep(20 * time.Millisecond)
	}
	c := startCrowd(t, folder, socket)
	began := time.Now()
	living := c.start(t, *agentProcesses)
	t.Logf("%d processes are recorded after %v; processor time of the agent %v", len(living), time.Since(began).Round(time.Millisecond), processTime(child.Process.Pid))

	s := openFor(t, where, file)
	defer s.Close()
	r := registry.New(s, nil)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var late time.Duration
	killed := 0
	used := processTime(child.Process.Pid)
	began = time.Now()
	for tick := range int(agentTime.Seconds() * 10) {
		time.Sleep(time.Until(began.Add(time.Duration(tick) * 100 * time.Millisecond)))
		n := *agentRate / 10
		fmt.Fprintln(c.in, n)
		for range n {
			i := rand.IntN(len(living))
			p := living[i]
			living[i] = living[len(living)-1]
			living = living[:len(living)-1]
			at := time.Now()
			if err := syscall.Kill(p.pid, syscall.SIGKILL); err != nil {
				t.Fatalf("kill %v: %v", p.gpid, err)
			}
			killed++
			wg.Go(func() {
				time.Sleep(time.Until(at.Add(agentEnd)))
				for status, err := range r.All(t.Context(), registry.Query{GPID: p.gpid}) {
					switch {
					case err != nil:
						t.Error(err)
					case status.End == nil:
						t.Errorf("%v was killed %v ago and is %s: %s", p.gpid, time.Since(at), status.State, status.Reason)
					default:
						mu.Lock()
						late = max(late, status.End.Time.Sub(at))
						mu.Unlock()
						return
					}
				}
				t.Errorf("%v: killed %v ago, and no end", p.gpid, time.Since(at))
			})
		}
		for range n {
			living = append(living, c.next(t))
		}
	}
	took := time.Since(began)
	wg.Wait()
	used = processTime(child.Process.Pid) - used
	n, err := r.CountLiving(t.Context())
	if err != nil || int(n) != len(living) {
		t.Errorf("%d processes are living, %v; want %d", n, err, len(living))
	}
	t.Logf("%d started and %d killed in %v, all recorded; ends dated %v after the kill at most; %.1f %% of a processor", killed, killed,
		took.Round(time.Second), late.Round(time.Millisecond), 100*used.Seconds()/took.Seconds())
	t.Logf("memory of the agent, at most: %s", memoryHigh(t, child.Process.Pid))
}

// startCrowd compiles and starts testdata/crowd.c.
func startCrowd(t *testing.T, folder, socket string) *crowd {
	program := filepath.Join(folder, "crowd")
	if out, err := exec.Command("cc", "-O1", "-o", program, "testdata/crowd.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v: %s", err, out)
	}
	child := exec.Command(program, socket)
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-child.Process.Pid, syscall.SIGKILL)
		_ = child.Wait()
	})
	c := &crowd{in, make(chan connected, 20000)}
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			f := strings.Fields(lines.Text())
			var p connected
			if _, err := fmt.Sscan(f[0], &p.pid); err != nil || len(f) != 5 || f[2] != "ok" {
				t.Errorf("answer to a process: %q", lines.Text())
				continue
			}
			p.gpid = gpid.MustParse(f[4])
			c.started <- p
		}
	}()
	return c
}

// start starts n processes, a few at a time, and waits until they have their answers.
func (c *crowd) start(t *testing.T, n int) (all []connected) {
	const some = 100
	for len(all) < n {
		k := min(some, n-len(all))
		fmt.Fprintln(c.in, k)
		for range k {
			all = append(all, c.next(t))
		}
	}
	return all
}

// next returns a process that has its answer.
func (c *crowd) next(t *testing.T) connected {
	t.Helper()
	select {
	case p := <-c.started:
		return p
	case <-time.After(time.Minute):
		t.Fatal("a process has no answer after a minute")
	}
	panic("unreachable")
}

func openFor(t *testing.T, where, file string) (s store.Store) {
	var err error
	if *simPostgres != "" {
		s, err = pgstore.Open(t.Context(), where)
	} else {
		s, err = sqlitestore.Open(t.Context(), file, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// memoryHigh returns the most memory that a process has had.
func memoryHigh(t *testing.T, pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	return string(regexp.MustCompile(`VmHWM:\s*(.*)`).FindSubmatch(text)[1])
}
