package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/memstore"
	"github.com/oidkit/oid/store/pgstore"
)

// followed is a log that "tail -f" follows into a command.
type followed struct {
	t     *testing.T
	log   *os.File
	lines chan string // what the command prints
	errs  bytes.Buffer
	tail  *exec.Cmd
	cmd   *exec.Cmd
	slow  time.Duration // the longest time that a line took
}

// follow starts tail -f of a new file, and the command that reads it.
func follow(t *testing.T, args ...string) *followed {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "app.log"))
	if err != nil {
		t.Fatal(err)
	}
	f := &followed{t: t, log: log, lines: make(chan string, 10_000)}
	t.Cleanup(func() { log.Close() })
	f.tail = exec.CommandContext(t.Context(), "tail", "-n", "+1", "-f", log.Name())
	f.cmd = exec.CommandContext(t.Context(), "oid", args...)
	f.cmd.Stderr = &f.errs
	if f.cmd.Stdin, err = f.tail.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*exec.Cmd{f.tail, f.cmd} {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		defer close(f.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			f.lines <- s.Text()
		}
	}()
	return f
}

// write appends a line to the log and returns what the command prints for it.
func (f *followed) write(id objectid.ID) string {
	f.t.Helper()
	began := time.Now()
	if _, err := fmt.Fprintf(f.log, "order %v\n", id); err != nil {
		f.t.Fatal(err)
	}
	select {
	case line := <-f.lines:
		f.slow = max(f.slow, time.Since(began))
		if !strings.Contains(line, id.String()) {
			f.t.Fatalf("for %v: %q", id, line)
		}
		return line
	case <-time.After(time.Minute):
		f.t.Fatalf("%v does not come", id)
	}
	return ""
}

// until writes lines until one has the words, or lacks them if want is false.
func (f *followed) until(newID func() objectid.ID, words string, want bool) {
	f.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if strings.Contains(f.write(newID()), words) == want {
			return
		}
	}
	f.t.Fatalf("%q: %v is not seen", words, want)
}

// end ends the log, and returns the exit code and what the command reported.
func (f *followed) end() (code int, reported []string) {
	f.t.Helper()
	_ = f.tail.Process.Kill()
	_ = f.tail.Wait()
	for line := range f.lines {
		f.t.Errorf("another line: %q", line)
	}
	err := f.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		f.t.Fatal(err)
	}
	return code, strings.Split(strings.TrimSuffix(f.errs.String(), "\n"), "\n")
}

// registered registers a process in s, for as long as the test.
func registered(t *testing.T, s store.Store, name string) *objectid.Generator {
	t.Helper()
	m, err := registry.New(s, nil).Register(t.Context(), &registry.RegisterOptions{Name: name, Addr: "127.0.0.1:80", Interval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return m.Generator()
}

// While the store hangs or is gone, the lines of a followed log come without processes and without
// delay. The processes are shown again when the store answers again.
func TestFollowThroughOutages(t *testing.T) {
	pg := testenv.Postgres(t)
	s, err := pgstore.Open(t.Context(), pg.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	shop := registered(t, s, "shop")
	f := follow(t, "annotate", "--store", pg.URL())
	f.until(shop.New, "shop", true)
	pg.Signal(syscall.SIGSTOP)
	f.until(shop.New, "shop", false)
	pg.Kill()
	for range 10 {
		if line := f.write(shop.New()); strings.Contains(line, "shop") {
			t.Errorf("without a store: %q", line)
		}
		time.Sleep(50 * time.Millisecond)
	}
	pg.Start()
	f.until(shop.New, "shop", true)
	if f.slow > patience+2*time.Second {
		t.Errorf("a line took %v", f.slow)
	}
	// A process that registers after its first id was shown is shown when it is known.
	late := objectid.New()
	if line := f.write(late); strings.Contains(line, "late") {
		t.Errorf("an id of an unknown process: %q", line)
	}
	if _, err := registry.New(s, nil).Adopt(t.Context(), []objectid.ID{late}, &registry.AdoptOptions{RegisterOptions: registry.RegisterOptions{Name: "late"}}); err != nil {
		t.Fatal(err)
	}
	f.until(func() objectid.ID { return late }, "late", true)
	const fails, answers = "oid: processes are not shown until the store answers: ", "oid: the store answers again; processes are shown"
	code, reported := f.end()
	if code != 1 || len(reported) != 2 || !strings.HasPrefix(reported[0], fails) || reported[1] != answers {
		t.Errorf("code %d, reported %q", code, reported)
	}
}

// A command that begins before the default store exists shows the processes when it exists.
func TestFollowBeforeTheStoreExists(t *testing.T) {
	t.Setenv("OID_STORE", "")
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	all := []*followed{follow(t, "annotate"), follow(t, "inspect", "--grep", "--json")}
	for range 5 {
		for _, f := range all {
			f.write(objectid.New())
		}
	}
	var where storeFlag
	s, err := where.openToWrite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	shop := registered(t, s, "shop")
	for _, f := range all {
		f.until(shop.New, "shop", true)
		if code, reported := f.end(); code != 0 || reported[0] != "" {
			t.Errorf("%q: code %d, reported %q", f.cmd.Args, code, reported)
		}
	}
}

// A trace of a log that is followed leaves out no id while the store is away. If the input ends by
// itself, the first failure ends the command.
func TestFollowTracesAll(t *testing.T) {
	s := memstore.New()
	shop := registered(t, s, "shop")
	away := func(failures int) *registry.Tracer {
		return registry.NewTracer(registry.New(store.OpenLater(func(context.Context) (store.Store, error) {
			if failures--; failures >= 0 {
				_, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", testenv.FreePort(t)))
				return nil, err
			}
			return s, nil
		}), nil))
	}
	var errs bytes.Buffer
	id := shop.New()
	found, err := traceAgain(t.Context(), streams{err: &errs}, away(1), id, true)
	if err != nil || found.Verdict != registry.Known || strings.Count(errs.String(), "asking again in ") != 1 {
		t.Errorf("the input may grow: %v, %v, reported %q", found.Verdict, err, errs.String())
	}
	errs.Reset()
	if _, err := traceAgain(t.Context(), streams{err: &errs}, away(1), id, false); !errors.Is(err, syscall.ECONNREFUSED) || errs.Len() > 0 {
		t.Errorf("the input ends: %v, reported %q", err, errs.String())
	}
}

// An id whose time has not come shows that clocks differ. The time to which it is compared is that of
// its line.
func TestFollowedClocks(t *testing.T) {
	t.Setenv("OID_STORE", "")
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	f := follow(t, "annotate")
	for range 3 {
		for _, ahead := range []time.Duration{0, 20 * time.Second} {
			if line := f.write(objectid.MinAt(time.Now().Add(ahead))); strings.Contains(line, " ahead of this clock>") != (ahead > 0) {
				t.Errorf("an id from %v ahead: %q", ahead, line)
			}
		}
		time.Sleep(400 * time.Millisecond)
	}
}
