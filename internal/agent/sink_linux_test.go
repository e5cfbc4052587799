package agent_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/agent"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// sink is a sink that a test can make fail.
type sink struct {
	mu        sync.Mutex
	err       error                         // of each call
	keys      map[string]registry.MemberKey // member by the key of its registration
	samples   map[registry.MemberKey]int    // by member
	beats     map[registry.MemberKey][]time.Time
	ends      map[registry.MemberKey]time.Time
	forgotten registry.MemberKey // a member that is not known any more
	lost      bool               // the answers to registrations
	slow      time.Duration      // of each registration
	forgets   string             // the method that does not know the member, once
	since     []time.Time        // when the processes sent their first lines
}

func (s *sink) fails(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *sink) Register(ctx context.Context, _ gpid.GPID, samples []objectid.ID, _ objectid.Layout, r *registry.RemoteOptions) (registry.MemberKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := cmp.Or(s.err, ctx.Err()); err != nil {
		return "", err
	}
	if s.slow > 0 {
		s.mu.Unlock()
		time.Sleep(s.slow)
		s.mu.Lock()
	}
	if r.Name == "refused" {
		return "", fmt.Errorf("%w: the name", agent.ErrRefused)
	}
	member := s.keys[r.Key]
	if member == "" {
		member = registry.MemberKey(fmt.Sprintf("member%d", len(s.keys)))
		s.keys[r.Key], s.samples[member] = member, len(samples)
		s.since = append(s.since, time.Now().Add(-r.Age))
	}
	if s.lost {
		return "", errors.New("the answer is lost")
	}
	return member, nil
}

func (s *sink) AddEvidence(_ context.Context, member registry.MemberKey, samples []objectid.ID, layout objectid.Layout) error {
	time.Sleep(s.slow)
	s.mu.Lock()
	defer s.mu.Unlock()
	if layout == objectid.Java {
		return fmt.Errorf("%w: the layout", agent.ErrRefused)
	}
	if s.forgets == "AddEvidence" {
		s.forgets = ""
		return agent.ErrForgotten
	}
	if s.err == nil {
		s.samples[member] += len(samples)
	}
	return s.err
}

func (s *sink) Heartbeats(_ context.Context, beats []registry.RemoteHeartbeat) []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs := make([]error, len(beats))
	for i, b := range beats {
		switch errs[i] = s.err; {
		case s.err != nil:
		case b.Member == s.forgotten || !s.ends[b.Member].IsZero():
			errs[i] = agent.ErrForgotten
		default:
			s.beats[b.Member] = append(s.beats[b.Member], time.Now().Add(-b.Age))
		}
	}
	return errs
}

func (s *sink) End(_ context.Context, member registry.MemberKey, _ string, age time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.ends[member] = time.Now().Add(-age)
	}
	if s.forgets == "End" {
		return agent.ErrForgotten
	}
	return s.err
}

// with calls f while the sink does not change.
func (s *sink) with(f func() bool) func() bool {
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return f()
	}
}

// serve starts an agent in this process, and returns its socket and its log. stop ends
// it.
func serve(t *testing.T, folder string, s *sink, open error) (socket string, log *bytes.Buffer, stop func()) {
	t.Helper()
	socket = filepath.Join(folder, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	log = &bytes.Buffer{}
	go func() {
		done <- agent.Serve(ctx, l, &agent.Options{
			State: socket + ".state", Interval: interval, Log: slog.New(slog.NewTextHandler(log, nil)),
			Open: func(context.Context) (agent.Sink, error) { err := open; open = nil; return s, err },
		})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		// Until its exec a process that another test starts has the locked file, too.
		eventually(t, "the file is free", func() bool {
			syscall.ForkLock.RLock() // nor has one the file of this look
			defer syscall.ForkLock.RUnlock()
			f, err := os.Open(socket + ".state")
			if err == nil {
				defer f.Close()
				err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
			}
			return !errors.Is(err, syscall.EWOULDBLOCK)
		})
	})
	t.Cleanup(stop)
	return socket, log, stop
}

func newSink() *sink {
	return &sink{keys: map[string]registry.MemberKey{}, samples: map[registry.MemberKey]int{}, beats: map[registry.MemberKey][]time.Time{}, ends: map[registry.MemberKey]time.Time{}}
}

// While the sink is away, programs have their answers, and what is to be recorded is kept
// with its time, also by an agent that is started again.
func TestAway(t *testing.T) {
	t.Parallel()
	s := newSink()
	folder := t.TempDir()
	s.fails(errors.New("away"))
	socket, log, stop := serve(t, folder, s, errors.New("cannot be opened"))
	c := client(t, socket)
	id, began := newID(t), time.Now()
	if said := c.do("say oid1 " + id.String()); !strings.HasPrefix(said, "ok - ") || time.Since(began) > 3*time.Second {
		t.Errorf("answer after %v: %q", time.Since(began), said)
	}
	c.do("say oid1 " + newID(t).String())
	dies := client(t, socket)
	dies.join("")
	killed := time.Now()
	dies.signal(syscall.SIGKILL)
	time.Sleep(2 * interval)
	stop()
	if n := strings.Count(log.String(), "level=WARN"); n != 1 {
		t.Errorf("%d warnings: %s", n, log)
	}
	serve(t, folder, s, nil)
	time.Sleep(2 * interval)
	restored := time.Now()
	s.fails(nil)
	eventually(t, "all is recorded", s.with(func() bool {
		for member, n := range s.samples {
			if n == 2 && len(s.beats[member]) > 0 {
				return len(s.keys) == 2 && len(s.ends) == 1
			}
		}
		return false
	}))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.ends {
		if d := at.Sub(killed); d < -10*time.Millisecond || d > 5*time.Second { // the machine may be busy
			t.Errorf("the end is recorded %v after it", d)
		}
	}
	for _, at := range s.since {
		if at.Before(began) || at.After(killed) {
			t.Errorf("a process is registered as of %v after the first", at.Sub(began))
		}
	}
	early := 0
	for member, beats := range s.beats {
		if s.samples[member] == 2 && beats[0].Before(restored) {
			early++
		}
	}
	if early != 1 {
		t.Errorf("no heartbeat from before the sink was back, of the process with two ids: %v %v", s.beats, s.samples)
	}
}

// A process that the sink has forgotten is registered again, and one that it refuses is
// answered so and let go.
func TestForgottenAndRefused(t *testing.T) {
	t.Parallel()
	s := newSink()
	socket, _, _ := serve(t, t.TempDir(), s, nil)
	c := client(t, socket)
	id := newID(t)
	if said := c.do("say oid1 " + id.String()); !strings.HasPrefix(said, "ok member0 ") {
		t.Errorf("answer: %q", said)
	}
	s.mu.Lock()
	s.forgotten = "member0"
	s.mu.Unlock()
	eventually(t, "it is registered again", s.with(func() bool { return len(s.beats["member1"]) > 0 }))
	if said := c.do("say oid1 " + id.String()); !strings.HasPrefix(said, "ok member1 ") {
		t.Errorf("answer: %q", said)
	}
	other := client(t, socket)
	if said := other.do("say oid1 " + newID(t).String() + " name=refused"); !strings.HasPrefix(said, "error ") || !strings.Contains(said, "the name") {
		t.Errorf("answer: %q", said)
	}
	if said := other.do("say oid1 " + newID(t).String() + " name=right"); !strings.HasPrefix(said, "ok member2 ") {
		t.Errorf("answer after a correction: %q", said)
	}
}

// A process that the sink has forgotten when another id is added is registered again
// with both, and one whose end is recorded already is not.
func TestForgottenMember(t *testing.T) {
	t.Parallel()
	s := newSink()
	socket, _, _ := serve(t, t.TempDir(), s, nil)
	c := client(t, socket)
	c.join("")
	s.mu.Lock()
	s.forgets = "AddEvidence"
	s.mu.Unlock()
	c.join("")
	eventually(t, "it is registered again", s.with(func() bool { return s.samples["member1"] == 2 }))
	s.mu.Lock()
	s.forgets = "End"
	s.mu.Unlock()
	c.signal(syscall.SIGKILL)
	eventually(t, "its end is recorded", s.with(func() bool { return !s.ends["member1"].IsZero() }))
	time.Sleep(2 * interval)
	if !s.with(func() bool { return len(s.keys) == 2 })() {
		t.Errorf("registered after its end: %v", s.keys)
	}
}

// A program has its answer also if the sink is slow.
func TestSlow(t *testing.T) {
	t.Parallel()
	s := newSink()
	s.slow = 3 * time.Second
	socket, _, _ := serve(t, t.TempDir(), s, nil)
	if said := client(t, socket).do("say oid1 " + newID(t).String()); !strings.HasPrefix(said, "ok - ") {
		t.Errorf("answer: %q", said)
	}
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "oid1 %v\ngarbage\n", newID(t)); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(c)
	for _, want := range []string{"ok - ", "error "} {
		if lines.Scan(); !strings.HasPrefix(lines.Text(), want) {
			t.Errorf("answers in another order: %q, want %s", lines.Text(), want)
		}
	}
	eventually(t, "both are recorded", s.with(func() bool { return len(s.keys) == 2 }))
	_, err = fmt.Fprintf(c, "oid1 %v\n%s", newID(t), strings.Repeat("x\n", 9000))
	if lines.Scan(); !strings.Contains(lines.Text(), "more than 16000 bytes sent without waiting for an answer") {
		t.Errorf("a program that writes on: %q, %v", lines.Text(), err)
	}
}

// An agent that ends records what it has, though the sink was away just before.
func TestLastCalls(t *testing.T) {
	t.Parallel()
	s := newSink()
	s.fails(errors.New("away"))
	socket, _, stop := serve(t, t.TempDir(), s, nil)
	client(t, socket).join("")
	dies := client(t, socket)
	dies.join("")
	dies.signal(syscall.SIGKILL)
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprintln(c, "accepted"); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(c).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	s.fails(nil)
	if stop(); len(s.keys) != 2 || len(s.ends) != 1 {
		t.Errorf("%d processes and %d ends are recorded", len(s.keys), len(s.ends))
	}
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("a connection after the end of the agent: %v", err)
	}
}

// The answer to a registration is lost, and the process sends another id before the
// registration is repeated. Both ids are recorded.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	s := newSink()
	s.lost = true
	socket, _, _ := serve(t, t.TempDir(), s, nil)
	c := client(t, socket)
	c.do("say oid1 " + newID(t).String())
	c.do("say oid1 " + newID(t).String())
	s.mu.Lock()
	s.lost = false
	s.mu.Unlock()
	eventually(t, "both ids are recorded", s.with(func() bool { return s.samples["member0"] == 2 }))
}

// A further id that the sink refuses is answered so, and its process is still followed.
func TestRefusedSample(t *testing.T) {
	t.Parallel()
	s := newSink()
	socket, _, _ := serve(t, t.TempDir(), s, nil)
	c := client(t, socket)
	c.do("say oid1 " + newID(t).String())
	if said := c.do("say oid1 " + newID(t).String() + " layout=java"); !strings.HasPrefix(said, "error ") || !strings.Contains(said, "the layout") {
		t.Errorf("answer: %q", said)
	}
	if said := c.do("say oid1 " + newID(t).String()); !strings.HasPrefix(said, "ok member0 ") {
		t.Errorf("answer to another id: %q", said)
	}
	c.signal(syscall.SIGKILL)
	eventually(t, "the end is recorded", s.with(func() bool { return !s.ends["member0"].IsZero() }))
}

// While the disk is full, the file lacks processes, and a part of a line may be in it.
// It is complete again once there is room.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("a small disk needs root:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
	s := newSink()
	socket, _, stop := serve(t, folder, s, nil)
	filler := filepath.Join(folder, "filler")
	if err := os.WriteFile(filler, make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("fill the disk: %v", err)
	}
	var all []*program
	for range 15 { // more than the rest of a page
		all = append(all, client(t, socket))
		all[len(all)-1].join("")
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	all = append(all, client(t, socket))
	all[len(all)-1].join("") // follows a part of a line
	eventually(t, "the file is complete", func() bool {
		text, err := os.ReadFile(socket + ".state")
		keys := map[string]bool{}
		for _, key := range regexp.MustCompile(`"Key":"\w+"`).FindAllString(string(text), -1) {
			keys[key] = true
		}
		return err == nil && len(keys) == len(all)
	})
	stop()
	socket, _, _ = serve(t, folder, s, nil)
	client(t, socket).join("") // the agent follows the others by now
	for _, p := range all {
		p.signal(syscall.SIGKILL)
	}
	eventually(t, "all ends are recorded", s.with(func() bool { return len(s.ends) == len(all) }))
}

// A second agent with the file of one that runs is refused, and the first keeps its
// processes.
func TestOneFileTwoAgents(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := newSink()
	socket, _, stop := serve(t, folder, s, nil)
	client(t, socket).join("")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(folder, "other")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := agent.Serve(ctx, l, &agent.Options{State: socket + ".state", Interval: interval}); err == nil || !strings.Contains(err.Error(), "another agent uses") {
		t.Errorf("a second agent: %v", err)
	}
	if err := l.SetDeadline(time.Time{}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the socket of the second agent is not closed: %v", err)
	}
	stop()
	serve(t, folder, s, nil) // after the first it is free
}
