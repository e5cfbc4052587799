package gpid_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/oidkit/oid/gpid"
)

const bootID = "3f2252fc-f928-46ec-9fcc-46ba756037a1"

// statLine is a stat file with the given fields and plausible others.
func statLine(pid int, name, state string, ticks uint64) string {
	return fmt.Sprintf("%d (%s) %s 1 77 77 0 -1 4194304 101 0 0 0 5 3 0 0 20 0 1 0 %d 3133440 394 "+
		"18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n", pid, name, state, ticks)
}

// proc returns the proc file system of a host with the given processes.
func proc(stats ...string) fstest.MapFS {
	host := fstest.MapFS{
		"sys/kernel/random/boot_id": file(bootID + "\n"),
		"self/ns/pid":               {Mode: fs.ModeSymlink | 0o777, Data: []byte("pid:[4026531836]")},
		"self/status":               file("Name:\tx\nNSpid:\t99\nThreads:\t1\n"),
		"1/stat":                    file(statLine(1, "init", "S", 3)),
		"stat":                      file("cpu  1 2 3\nbtime 1795168763\nprocesses 1\n"),
	}
	for _, s := range stats {
		pid, _, _ := strings.Cut(s, " ")
		host[pid+"/stat"] = file(s)
	}
	return host
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Mode: 0o444, Data: []byte(text)} }

func TestOfReadsWhatTheKernelWrites(t *testing.T) {
	for _, name := range []string{
		"cat", "tmux: server", "a b", ") ", "x) R 1 1 1 (y", ")))", "((", "", "evil) Z 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 666 1", "new\nline",
	} {
		got, err := gpid.ProcessOfFS(proc(statLine(4711, name, "S", 91910)), 4711)
		want := gpid.Process{Boot: bootID, Namespace: 4026531836, PID: 4711, Ticks: 91910}
		if err != nil || got != want {
			t.Errorf("name %q: %+v, %v, want %+v", name, got, err, want)
		}
	}
}

// Process 1 is a process like any other.
func TestOfTheFirstProcess(t *testing.T) {
	p, err := gpid.ProcessOfFS(proc(), 1)
	if err != nil || p.PID != 1 || p.Ticks != 3 {
		t.Fatalf("Of(1) = %+v, %v, want ticks 3", p, err)
	}
	if alive, err := p.AliveFS(proc()); err != nil || !alive {
		t.Errorf("process 1 alive: %v, %v", alive, err)
	}
}

func TestAliveTellsRunsApart(t *testing.T) {
	p, err := gpid.ProcessOfFS(proc(statLine(4711, "x", "S", 91910)), 4711)
	if err != nil {
		t.Fatal(err)
	}
	clockMoved := proc(statLine(4711, "x", "R", 91910))
	clockMoved["stat"] = file("btime 1\n")
	otherBoot := proc(statLine(4711, "x", "S", 91910))
	otherBoot["sys/kernel/random/boot_id"] = file("00000000-f928-46ec-9fcc-46ba756037a1\n")
	otherNamespace := proc(statLine(4711, "x", "S", 91910))
	otherNamespace["self/ns/pid"].Data = []byte("pid:[4026532000]")
	for _, c := range []struct {
		name  string
		host  fs.FS
		alive bool
		err   error
	}{
		{"unchanged", proc(statLine(4711, "x", "S", 91910)), true, nil},
		{"renamed, running", proc(statLine(4711, "new ) name", "R", 91910)), true, nil},
		{"stopped", proc(statLine(4711, "x", "T", 91910)), true, nil},
		{"clock moved", clockMoved, true, nil},
		{"gone", proc(), false, nil},
		{"pid reused", proc(statLine(4711, "x", "S", 91911)), false, nil},
		{"not waited for", proc(statLine(4711, "x", "Z", 91910)), false, nil},
		{"other boot", otherBoot, false, gpid.ErrElsewhere},
		{"other namespace", otherNamespace, false, gpid.ErrElsewhere},
	} {
		alive, err := p.AliveFS(c.host)
		if alive != c.alive || !errors.Is(err, c.err) {
			t.Errorf("%s: %v, %v, want %v, %v", c.name, alive, err, c.alive, c.err)
		}
	}
}

// statWithMemory is a stat file with the addresses of the code and the stack.
func statWithMemory(code, stack uint64) string {
	return fmt.Sprintf("4711 (x) S 1 77 77 0 -1 4194304 101 0 0 0 5 3 0 0 20 0 1 0 91910 3133440 394 18446744073709551615 "+
		"%d 94363116641705 %d 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 94363116657712 94363116659328 94363246645248 1 2 3 4 0\n", code, stack)
}

func TestProgramDiffersAfterExec(t *testing.T) {
	p, err := gpid.ProcessOfFS(proc(statWithMemory(1, 2)), 4711)
	if err != nil {
		t.Fatal(err)
	}
	first, err := p.ProgramFS(proc(statWithMemory(1, 2)))
	if err != nil || first == 0 {
		t.Fatalf("program %d, %v, want a number", first, err)
	}
	if again, err := p.ProgramFS(proc(statWithMemory(1, 2))); err != nil || again != first {
		t.Errorf("read again: %d, %v, want %d", again, err, first)
	}
	for name, stat := range map[string]string{
		"code": statWithMemory(9, 2), "stack": statWithMemory(1, 9),
	} {
		if other, err := p.ProgramFS(proc(stat)); err != nil || other == 0 || other == first {
			t.Errorf("another address of the %s: %d, %v, want another number than %d", name, other, err, first)
		}
	}
	// The kernel writes these for a process of another user.
	if hidden, err := p.ProgramFS(proc(statWithMemory(1, 0))); err != nil || hidden != 0 {
		t.Errorf("hidden: %d, %v, want 0", hidden, err)
	}
	for name, stat := range map[string]string{"pid reused": statLine(4711, "x", "S", 91911), "not waited for": statLine(4711, "x", "Z", 91910)} {
		if n, err := p.ProgramFS(proc(stat)); !errors.Is(err, gpid.ErrNoProcess) {
			t.Errorf("%s: %d, %v, want ErrNoProcess", name, n, err)
		}
	}
	if _, err := (gpid.Process{Boot: "other", PID: 4711}).ProgramFS(proc(statWithMemory(1, 2))); !errors.Is(err, gpid.ErrElsewhere) {
		t.Errorf("of another boot: %v, want ErrElsewhere", err)
	}
	bad := strings.Replace(statWithMemory(1, 2), " 94363116641705 2 ", " 94363116641705 x ", 1)
	if n, err := p.ProgramFS(proc(bad)); err == nil {
		t.Errorf("an address that is no number: %d, want an error", n)
	}
}

// TestStatCutShort reads a stat file that ends early, everywhere: a number that was cut is
// not taken for another one.
func TestStatCutShort(t *testing.T) {
	whole := statWithMemory(94363116523520, 140724537434560)
	p, err := gpid.ProcessOfFS(proc(whole), 4711)
	if err != nil {
		t.Fatal(err)
	}
	program, err := p.ProgramFS(proc(whole))
	if err != nil || program == 0 {
		t.Fatalf("program %d, %v, want a number", program, err)
	}
	for n := range len(whole) {
		host := proc()
		host["4711/stat"] = file(whole[:n])
		if got, err := gpid.ProcessOfFS(host, 4711); err == nil && got != p {
			t.Errorf("%q: %+v, want an error or %+v", whole[:n], got, p)
		}
		if got, err := p.ProgramFS(host); err == nil && got != 0 && got != program {
			t.Errorf("%q: program %d, want an error, 0 or %d", whole[:n], got, program)
		}
	}
	_, err = gpid.ProcessOfFS(proc("4711 (x) S 1"), 4711)
	if want := "2 fields after the program name, want 27 or more"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("two fields: %v, want an error with %q", err, want)
	}
}

func TestOfRefusesWhatEnded(t *testing.T) {
	for name, host := range map[string]fs.FS{
		"gone":   proc(),
		"zombie": proc(statLine(4711, "x", "Z", 91910)),
		"dead":   proc(statLine(4711, "x", "X", 91910)),
	} {
		if p, err := gpid.ProcessOfFS(host, 4711); !errors.Is(err, gpid.ErrNoProcess) {
			t.Errorf("%s: %+v, %v, want ErrNoProcess", name, p, err)
		}
	}
	for _, pid := range []int{0, -1} {
		if p, err := gpid.ProcessOfFS(proc(), pid); !errors.Is(err, gpid.ErrNoProcess) {
			t.Errorf("pid %d: %+v, %v, want ErrNoProcess", pid, p, err)
		}
	}
}

// A /proc that is missing, cut short or wrong gives an error: never a process,
// and never the news that a process is dead.
func TestProcThatLies(t *testing.T) {
	good := statLine(4711, "x", "S", 91910)
	known, err := gpid.ProcessOfFS(proc(good), 4711)
	if err != nil {
		t.Fatal(err)
	}
	without := func(names ...string) fs.FS {
		host := proc(good)
		for _, name := range names {
			delete(host, name)
		}
		return host
	}
	with := func(name, text string) fs.FS {
		host := proc(good)
		host[name].Data = []byte(text)
		return host
	}
	cases := map[string]fs.FS{
		"empty":                fstest.MapFS{},
		"hides processes":      without("4711/stat", "1/stat"),
		"no boot id":           without("sys/kernel/random/boot_id"),
		"empty boot id":        with("sys/kernel/random/boot_id", "\n"),
		"cut boot id":          with("sys/kernel/random/boot_id", bootID[:20]),
		"no namespace":         without("self/ns/pid"),
		"odd namespace":        with("self/ns/pid", "pid:4026531836"),
		"namespace no number":  with("self/ns/pid", "pid:[x]"),
		"no status":            without("self/status"),
		"foreign namespace":    with("self/status", "NSpid:\t99\t1\n"),
		"empty stat":           with("4711/stat", ""),
		"name not closed":      with("4711/stat", "4711 (x S 1 77"),
		"no name":              with("4711/stat", strings.Replace(good, "(x)", "x", 1)),
		"another process":      with("4711/stat", statLine(4712, "x", "S", 91910)),
		"no pid":               with("4711/stat", strings.TrimPrefix(good, "4711")),
		"start is no number":   with("4711/stat", strings.Replace(good, " 91910 ", " 9191o ", 1)),
		"start is negative":    with("4711/stat", strings.Replace(good, " 91910 ", " -91910 ", 1)),
		"long state":           with("4711/stat", strings.Replace(good, ") S ", ") SS ", 1)),
		"cut before the start": with("4711/stat", good[:strings.Index(good, " 91910")]),
	}
	for i := 1; i <= len("91910"); i++ {
		cases[fmt.Sprintf("cut %d digits into the start", i)] = with("4711/stat", good[:strings.Index(good, "91910")+i])
	}
	for name, host := range cases {
		if p, err := gpid.ProcessOfFS(host, 4711); err == nil || errors.Is(err, gpid.ErrNoProcess) {
			t.Errorf("%s: Of = %+v, %v, want an error that does not say the process has ended", name, p, err)
		} else if !strings.HasPrefix(err.Error(), "gpid: ") {
			t.Errorf("%s: error %q does not say where it comes from", name, err)
		}
		if alive, err := known.AliveFS(host); err == nil {
			t.Errorf("%s: Alive = %v, nil, want an error", name, alive)
		}
	}
}

func FuzzStat(f *testing.F) {
	f.Add(statLine(4711, "x", "S", 91910))
	f.Add(statLine(4711, "x) S 1 (", "Z", 0))
	f.Add("4711 (")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := gpid.ProcessOfFS(proc("1 (init) S", "4711 "+text, text), 4711)
		if err == nil && (p.PID != 4711 || p.Boot != bootID) {
			t.Errorf("%q: %+v", text, p)
		}
	})
}
