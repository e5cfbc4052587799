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
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/pgstore"
	"github.com/oidkit/oid/store/sqlitestore"
)

var (
	agentProcesses = flag.Int("agent-processes", 100, "how many processes are connected to the agent")
	agentTime      = flag.Duration("agent-time", 3*time.Second, "for how long processes are started and killed")
	agentRate      = flag.Int("agent-rate", 20, "how many of each a second")
	agentShort     = flag.Int("agent-short", 100, "how many processes with short lives are started")
)

// agentEnd is how long after a kill the end of the process is recorded.
const agentEnd = 2 * time.Second

// crowd are the processes of testdata/crowd.c.
type crowd struct {
	in      io.Writer
	out     *bufio.Scanner
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
	h := startAgent(t)
	child, where, file := h.child, h.where, h.file
	c := startCrowd(t, h.folder, h.socket)
	go c.listen(t)
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
		fmt.Fprintln(c.in, n, 0)
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

// agentHost is a running "oid agent".
type agentHost struct {
	folder, socket, where, file string
	child                       *exec.Cmd
	log                         bytes.Buffer // to be read after the agent has ended
}

func startAgent(t *testing.T) *agentHost {
	h := &agentHost{folder: t.TempDir()}
	h.file, h.socket = filepath.Join(h.folder, "registry.db"), filepath.Join(h.folder, "agent.sock")
	if h.where = "sqlite:" + h.file; *simPostgres != "" {
		h.where = *simPostgres
	}
	h.child = exec.Command(buildOid(t), "agent", "--store", h.where, "--listen", h.socket)
	h.child.Stderr = &h.log
	if err := h.child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.stop()
		if t.Failed() || strings.Count(h.log.String(), "\n") > 1 {
			t.Logf("agent: %s", h.log.String())
		}
	})
	for _, err := os.Stat(h.socket); err != nil; _, err = os.Stat(h.socket) {
		time.Sleep(20 * time.Millisecond)
	}
	return h
}

func (h *agentHost) stop() {
	_ = h.child.Process.Signal(syscall.SIGTERM)
	_ = h.child.Wait()
}

// TestShortLives starts processes that live for 5 ms to 10 s and read no answer. Each id has to be
// traced to the process that created it, whose end has to be dated right, or the log has to
// say why not.
//
//	go test ./registry -run ShortLives -v -agent-short 20000 -agent-rate 200
func TestShortLives(t *testing.T) {
	h := startAgent(t)
	c := startCrowd(t, h.folder, h.socket)
	type life struct {
		id, pid string
		end     time.Time
	}
	var all []life
	done := make(chan bool)
	go func() {
		defer close(done)
		for len(all) < *agentShort && c.out.Scan() {
			f := strings.Fields(c.out.Text())
			ms, _ := strconv.ParseInt(f[2], 10, 64)
			all = append(all, life{f[1], f[0], time.UnixMilli(ms)})
		}
	}()
	began := time.Now()
	for n := 0; n < *agentShort; n += 10 {
		time.Sleep(time.Until(began.Add(time.Duration(n) * time.Second / time.Duration(*agentRate))))
		fmt.Fprintln(c.in, 10, 10_000)
	}
	<-done
	t.Logf("%d started in %v; processor time of the agent %v", len(all), time.Since(began).Round(time.Millisecond), processTime(h.child.Process.Pid))
	time.Sleep(time.Until(began.Add(15*time.Second + time.Duration(*agentShort)*time.Second/time.Duration(*agentRate))))
	s := openFor(t, h.where, h.file)
	defer s.Close()
	r := registry.New(s, nil)
	recorded := func(l life) bool { // or the store is slow
		tr, err := r.Trace(t.Context(), objectid.MustParse(l.id))
		return err == nil && tr.Verdict != registry.Unknown
	}
	for deadline := time.Now().Add(2 * time.Minute); slices.ContainsFunc(all, func(l life) bool { return !recorded(l) }) && time.Now().Before(deadline); {
		time.Sleep(time.Second)
	}
	time.Sleep(5 * time.Second) // the ends follow
	memory := memoryHigh(t, h.child.Process.Pid)
	h.stop()
	refused := 0
	for line := range strings.Lines(h.log.String()) {
		if strings.Contains(line, "refused") {
			refused++
		}
	}
	var lost, wrong, unseen, endless int
	var late time.Duration
	for _, l := range all {
		tr, err := r.Trace(t.Context(), objectid.MustParse(l.id))
		if err != nil {
			t.Fatal(err)
		}
		if tr.Verdict == registry.Unknown {
			lost++
			continue
		}
		p := tr.Processes[0]
		if tr.Verdict != registry.Claimed || fmt.Sprint(p.GPID.PID()) != l.pid {
			t.Errorf("%s of process %s: %s: %s", l.id, l.pid, tr.Verdict, tr.Reason)
			wrong++
		}
		if p.StartUnknown {
			unseen++
		}
		if p.End == nil {
			endless++
		} else if late = max(late, p.End.Time.Sub(l.end)); p.End.Time.Before(l.end.Add(-20 * time.Millisecond)) {
			t.Errorf("%s ended at %v, and its end is dated %v earlier", l.id, l.end, l.end.Sub(p.End.Time))
			wrong++
		}
	}
	if lost > refused || endless > 0 && !strings.Contains(h.log.String(), "did not run") {
		t.Errorf("%d ids are unknown and %d processes without an end; the log has %d refusals", lost, endless, refused)
	}
	t.Logf("%d of %d wrong, %d unknown, %d refused in the log, %d without an end; %d were never seen; ends dated %v late at most; memory of the agent %s", wrong, len(all), lost, refused, endless, unseen, late.Round(time.Millisecond), memory)
}

// startCrowd compiles and starts testdata/crowd.c.
func startCrowd(t *testing.T, folder, socket string) *crowd {
	program := filepath.Join(folder, "crowd")
	if out, err := exec.Command("cc", "-O1", "-o", program, "testdata/crowd.c", "-lm").CombinedOutput(); err != nil {
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
	return &crowd{in, bufio.NewScanner(out), make(chan connected, 20000)}
}

// listen reads the answers to processes.
func (c *crowd) listen(t *testing.T) {
	for c.out.Scan() {
		f := strings.Fields(c.out.Text())
		var p connected
		if _, err := fmt.Sscan(f[0], &p.pid); err != nil || len(f) != 5 || f[2] != "ok" {
			t.Errorf("answer to a process: %q", c.out.Text())
			continue
		}
		p.gpid = gpid.MustParse(f[4])
		c.started <- p
	}
}

// start starts n processes, a few at a time, and waits until they have their answers.
func (c *crowd) start(t *testing.T, n int) (all []connected) {
	const some = 100
	for len(all) < n {
		k := min(some, n-len(all))
		fmt.Fprintln(c.in, k, 0)
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
