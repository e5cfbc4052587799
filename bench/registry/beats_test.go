package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/bench/page"
	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/pgstore"
	"github.com/oidkit/oid/store/sqlitestore"
)

var (
	beatsTime  = flag.Duration("beats", 3*time.Second, "for how long heartbeats are sent")
	beatsHTTP  = flag.Bool("http", false, "send the heartbeats to `oid serve`, those of a host in one request")
	beatsBulk  = flag.Bool("bulk", false, "send the heartbeats as fast as possible instead of each in its time")
	agents     = flag.Int("senders", 2, "how many agents send at once with -bulk")
	beatsEvery = flag.Duration("every", 10*time.Second, "the interval between two heartbeats of a process")
	beatsFile  = flag.String("file", "", "a SQLite file that is kept, and whose processes are used again; default: a new one")
	cpuProfile = flag.String("beatsprofile", "", "file for a CPU profile of the heartbeats")
)

const (
	hostSize = 1000                   // processes of a host
	moment   = 100 * time.Millisecond // the heartbeats of it are sent together
)

// beater is a process that is registered.
type beater struct {
	gpid   gpid.GPID
	member registry.MemberKey
	phase  time.Duration // its part of the interval
}

// TestBeats sends the heartbeats of many processes: through one agent for all of them
// or over HTTP those of a host at once, each in its time; or as many as the store takes.
//
//	go test ./registry -run Beats -v -processes 200000 -beats 90s
//	go test ./registry -run Beats -v -processes 100000 -beats 90s -http
//	go test ./registry -run Beats -v -processes 200000 -beats 60s -bulk -postgres URL
func TestBeats(t *testing.T) {
	file := *beatsFile
	if file == "" {
		file = filepath.Join(t.TempDir(), "registry.db")
	}
	var s store.Store
	var err error
	if *simPostgres != "" {
		s, err = pgstore.Open(t.Context(), *simPostgres)
	} else {
		s, err = sqlitestore.Open(t.Context(), file, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := registry.New(s, nil)
	all := recorded(t, s, *simProcesses)
	known := len(all)
	if rest := *simProcesses - len(all); rest > 0 {
		all = append(all, registerMany(t, r, len(all), rest)...)
	}
	if *beatsTime == 0 { // only to register them
		return
	}
	if *cpuProfile != "" {
		f, err := os.Create(*cpuProfile)
		if err != nil {
			t.Fatal(err)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			t.Fatal(err)
		}
		defer pprof.StopCPUProfile()
	}
	var m beatsMeter
	if known > 0 && !*beatsHTTP { // an agent that has just started
		began := time.Now()
		for due := range slices.Chunk(all, 2000) {
			if err := errors.Join(r.Heartbeats(t.Context(), beatsOf(due))...); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("first heartbeats of a new agent: %.0f a second", float64(len(all))/time.Since(began).Seconds())
	}
	var url string
	var cpu func() time.Duration
	if *beatsHTTP {
		url, cpu = serveFile(t, s, file)
	}
	began, used := time.Now(), page.ProcessorTime()
	switch {
	case *beatsBulk:
		sendBulk(t, r, all, &m)
	case *beatsHTTP:
		sendPaced(t, byHost(all), &m, func(ctx context.Context, due []beater) []error { return post(ctx, url, due) })
	default:
		sendPaced(t, byMoment(all), &m, func(ctx context.Context, due []beater) []error { return r.Heartbeats(ctx, beatsOf(due)) })
	}
	took, used := time.Since(began), page.ProcessorTime()-used
	sent := m.sent.Load()
	t.Logf("%d heartbeats in %v: %.0f a second, %v of processor time each; %d failed", sent, took.Round(time.Millisecond),
		float64(sent)/took.Seconds(), (used / time.Duration(max(sent, 1))).Round(100*time.Nanosecond), m.failed.Load())
	if *beatsHTTP {
		t.Logf("processor time of the server: %v a heartbeat", cpu()/time.Duration(max(sent, 1)))
	}
	if !*beatsBulk {
		lags := m.sorted()
		t.Logf("stored after their time: median %v, 99 %% within %v, all within %v; %d later than a tenth of the interval",
			lags[len(lags)/2].Round(time.Millisecond), lags[len(lags)*99/100].Round(time.Millisecond), lags[len(lags)-1].Round(time.Millisecond), m.late.Load())
	}
	if m.failed.Load() != 0 || sent == 0 {
		t.Errorf("%d of %d heartbeats failed: %v", m.failed.Load(), sent, m.err.Load())
	}
}

// recorded returns up to n processes that are recorded, by host.
func recorded(t *testing.T, s store.Store, n int) (all []beater) {
	for raw, err := range s.Find(t.Context(), "oid.processes", store.Query{Limit: n}) {
		if err != nil {
			t.Fatal(err)
		}
		run, block, _ := strings.Cut(raw.Lookup("_id").StringValue(), "/")
		member := raw.Lookup("member").ObjectID()
		all = append(all, beaterOf(gpid.MustParse(run), registry.MemberKey(block+hex.EncodeToString(member[8:]))))
	}
	return all
}

func beaterOf(g gpid.GPID, member registry.MemberKey) beater {
	var b [4]byte
	_, _ = hex.Decode(b[:], []byte(member[:8]))
	return beater{g, member, time.Duration(float64(binary.BigEndian.Uint32(b[:])) / (1 << 32) * float64(*beatsEvery))}
}

// registerMany registers n processes after the first ones, many at once.
func registerMany(t *testing.T, r *registry.Registry, first, n int) []beater {
	all := make([]beater, n)
	began, used := time.Now(), page.ProcessorTime()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 256 {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				host, pid := (first+i)/hostSize, 1+(first+i)%hostSize
				addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(host >> 8), byte(host)}), uint16(10000+pid))
				g, err := gpid.New(addr, time.Now(), pid)
				if err != nil {
					t.Error(err)
					return
				}
				p, err := r.RegisterRemote(t.Context(), g, &registry.RemoteOptions{Name: "bench", Host: fmt.Sprintf("host%d", host), Interval: *beatsEvery, Clock: time.Now(), Labels: labelsOf(host)})
				if err != nil {
					t.Error(err)
					return
				}
				all[i] = beaterOf(g, p.Key())
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	t.Logf("%d registrations in %v: %.0f a second, %v of processor time each", n, took.Round(time.Millisecond), float64(n)/took.Seconds(),
		((page.ProcessorTime() - used) / time.Duration(n)).Round(time.Microsecond))
	return all
}

// batch is heartbeats that are sent together at a part of the interval.
type batch struct {
	at  time.Duration
	due []beater
}

// byMoment returns the heartbeats of each moment of the interval, in the order of keys.
func byMoment(all []beater) []batch {
	slices.SortFunc(all, func(a, b beater) int { return int(a.phase - b.phase) })
	var batches []batch
	for _, b := range all {
		at := b.phase.Truncate(moment) + moment
		if len(batches) == 0 || batches[len(batches)-1].at != at {
			batches = append(batches, batch{at: at})
		}
		last := &batches[len(batches)-1]
		last.due = append(last.due, b)
	}
	return batches
}

// byHost returns the heartbeats of each host, which come at one time.
func byHost(all []beater) []batch {
	var batches []batch
	for part := range slices.Chunk(all, hostSize) {
		batches = append(batches, batch{time.Duration(len(batches)*hostSize) * *beatsEvery / time.Duration(len(all)), part})
	}
	return batches
}

// beatsMeter counts heartbeats.
type beatsMeter struct {
	sent, failed, late atomic.Int64
	err                atomic.Value

	mu   sync.Mutex
	lags []time.Duration // one of each call
}

func (m *beatsMeter) count(errs []error) {
	for _, err := range errs {
		m.sent.Add(1)
		if err != nil {
			m.failed.Add(1)
			m.err.Store(err)
		}
	}
}

func (m *beatsMeter) stored(lag time.Duration, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lags = append(m.lags, lag); lag > *beatsEvery/10 {
		m.late.Add(int64(n))
	}
}

func (m *beatsMeter) sorted() []time.Duration {
	slices.Sort(m.lags)
	return m.lags
}

// sendPaced sends each batch in its part of each interval. A batch that takes long
// delays those after it; up to four are under way over HTTP, and one of an agent.
func sendPaced(t *testing.T, batches []batch, m *beatsMeter, send func(context.Context, []beater) []error) {
	places := make(chan struct{}, 1)
	if *beatsHTTP {
		places = make(chan struct{}, 4)
	}
	var wg sync.WaitGroup
	began := time.Now()
	for round := time.Duration(0); round < *beatsTime; round += *beatsEvery {
		for _, b := range batches {
			due := began.Add(round + b.at)
			if round+b.at > *beatsTime {
				break
			}
			time.Sleep(time.Until(due))
			places <- struct{}{}
			wg.Go(func() {
				m.count(send(t.Context(), b.due))
				m.stored(time.Since(due), len(b.due))
				<-places
			})
		}
	}
	wg.Wait()
}

// sendBulk sends the heartbeats of all processes again and again.
func sendBulk(t *testing.T, r *registry.Registry, all []beater, m *beatsMeter) {
	slices.SortFunc(all, func(a, b beater) int { return int(a.phase - b.phase) })
	var wg sync.WaitGroup
	end := time.Now().Add(*beatsTime)
	for part := range slices.Chunk(all, (len(all)+*agents-1) / *agents) {
		wg.Go(func() {
			for time.Now().Before(end) {
				for due := range slices.Chunk(part, 2000) {
					m.count(r.Heartbeats(t.Context(), beatsOf(due)))
					if time.Now().After(end) {
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

func beatsOf(due []beater) []registry.RemoteHeartbeat {
	beats := make([]registry.RemoteHeartbeat, len(due))
	for i, b := range due {
		beats[i] = registry.RemoteHeartbeat{Member: b.member, Load: randomLoad(), Clock: time.Now()}
	}
	return beats
}

func randomLoad() registry.Load {
	return registry.Load{
		CPU: time.Duration(time.Now().UnixMilli()/100) * 10 * time.Millisecond, RSS: (20000 + rand.Int64N(40)) * 4096, Heap: rand.Int64N(30 << 20),
		Files: 20, Threads: 12, Goroutines: 50 + rand.Int64N(40),
	}
}

// serveFile starts "oid serve" on the file. cpu returns the processor time that it has
// used since.
func serveFile(t *testing.T, s store.Store, file string) (url string, cpu func() time.Duration) {
	if err := s.Close(); err != nil { // the server has it from now on
		t.Fatal(err)
	}
	where := "sqlite:" + file
	if *simPostgres != "" {
		where = *simPostgres
	}
	child := exec.Command(buildOid(t), "serve", "--listen", "127.0.0.1:0", "--store", where)
	out, err := child.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	child.Stdout = child.Stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = child.Process.Signal(syscall.SIGTERM)
		_ = child.Wait()
	})
	buf := make([]byte, 4096)
	said := ""
	for !strings.Contains(said, "http://") || !strings.Contains(said[strings.Index(said, "http://"):], "\n") {
		n, err := out.Read(buf)
		if said += string(buf[:n]); err != nil {
			t.Fatalf("oid serve: %v: %s", err, said)
		}
	}
	go func() {
		for {
			if _, err := out.Read(buf); err != nil {
				return
			}
		}
	}()
	url = strings.FieldsFunc(said[strings.Index(said, "http://"):], func(r rune) bool { return r == ' ' || r == '\n' || r == '"' })[0]
	return strings.TrimSuffix(url, "/"), func() time.Duration { return processTime(child.Process.Pid) }
}

// buildOid compiles the command.
func buildOid(t *testing.T) string {
	program := filepath.Join(t.TempDir(), "oid")
	build := exec.Command("go", "build", "-o", program, "./cmd/oid")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// processTime returns the processor time that a process has used, 0 if it is not known.
func processTime(pid int) time.Duration {
	used, _ := page.ProcessorTimeOf(pid)
	return used
}

// post sends heartbeats with one request.
func post(ctx context.Context, url string, due []beater) []error {
	var body wire.Heartbeats
	for _, b := range due {
		l := randomLoad()
		cpu := l.CPU.Seconds()
		body.Heartbeats = append(body.Heartbeats, wire.HeartbeatOf{Member: string(b.member), Heartbeat: wire.Heartbeat{
			Load:  wire.Load{CPUSeconds: &cpu, MemoryBytes: &l.RSS, HeapBytes: &l.Heap, Files: &l.Files, Threads: &l.Threads, Goroutines: &l.Goroutines},
			Clock: time.Now(),
		}})
	}
	errs := make([]error, len(due))
	raw, err := json.Marshal(body)
	if err == nil {
		err = send(ctx, url+"/v1/members/heartbeats", raw, len(due))
	}
	for i := range errs {
		errs[i] = err
	}
	return errs
}

func send(ctx context.Context, url string, body []byte, n int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var got wire.HeartbeatResults
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK || got.Recorded != int64(n) {
		return fmt.Errorf("%s: %d of %d recorded, %+v", res.Status, got.Recorded, n, got.Problems[:min(1, len(got.Problems))])
	}
	return nil
}
