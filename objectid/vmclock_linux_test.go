package objectid

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// snapshots sets OID_VMCLOCK to a file in place of the device. The function that it returns
// does what a hypervisor does when it starts the machine from a snapshot.
func snapshots(t testing.TB) (resume func()) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "vmclock0"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if err := f.Truncate(int64(os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(vmPageOf().bytes(), 0); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OID_VMCLOCK", f.Name())
	page, err := syscall.Mmap(int(f.Fd()), 0, os.Getpagesize(), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(page) })
	return func() {
		for _, field := range []int{0x0c, 0x10, 0x68, 0x0c} { // the sequence is odd meanwhile
			if field == 0x0c {
				binary.LittleEndian.PutUint32(page[field:], binary.LittleEndian.Uint32(page[field:])+1)
			} else {
				binary.LittleEndian.PutUint64(page[field:], binary.LittleEndian.Uint64(page[field:])+1)
			}
		}
	}
}

// valueOf returns the process value of an id of a layout, as far as a generator keeps it.
func valueOf(id ID) [4]byte { return [4]byte(id[4:]) }

// The first id after a snapshot has another process value, and is greater than the one before.
// Two copies of one state, which their machines resume, share none.
func TestSnapshotIsSeenWithTheNextID(t *testing.T) {
	for _, c := range []struct {
		name    string
		o       Options
		changes bool
	}{
		{"modern", Options{}, true},
		{"java", Options{Layout: Java}, true},
		{"the program's clock", Options{Now: func() time.Time { return time.Unix(1_800_000_000, 0) }}, true},
		{"with MaxLead", Options{MaxLead: time.Minute}, true},
		{"another block", Options{Block: &[4]byte{1}, NewBlock: func() ([4]byte, bool) { return [4]byte{2}, true }}, true},
		{"classic has no other value", Options{Layout: Classic}, false},
		{"a block alone", Options{Block: &[4]byte{1}}, false},
		{"no other block now", Options{Block: &[4]byte{1}, NewBlock: func() ([4]byte, bool) { return [4]byte{}, false }}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			resume := snapshots(t)
			g, err := NewGenerator(&c.o)
			if err != nil {
				t.Fatal(err)
			}
			last := g.New()
			for round := range 6 {
				twin := copyOf(g)
				if round > 0 && c.o.Block == nil {
					resume()
				} else if round == 1 {
					resume()
				}
				ids := make([]ID, 3)
				if round%2 == 0 {
					g.Fill(ids)
				} else {
					ids[0], ids[1], ids[2] = g.New(), g.New(), g.New()
				}
				if changed := valueOf(ids[0]) != valueOf(last); changed != (c.changes && round > 0 && (c.o.Block == nil || round == 1)) {
					t.Fatalf("round %d: %v after %v", round, ids[0], last)
				}
				if c.changes && round > 0 && c.o.Block == nil {
					if other := twin.New(); valueOf(other) == valueOf(ids[0]) {
						t.Errorf("round %d: copies continue with %v and %v", round, ids[0], other)
					}
				}
				for _, id := range ids {
					if id.Compare(last) <= 0 || valueOf(id) != valueOf(ids[0]) {
						t.Fatalf("round %d: %v after %v", round, id, last)
					}
					last = id
				}
			}
			if lead := g.Lead(); lead > 10*time.Second {
				t.Errorf("the ids are %v ahead of the clock", lead)
			}
		})
	}
}

// A snapshot can be made while New or Fill runs, up to the moment in which it returns.
func TestSnapshotWhileAnIDIsMade(t *testing.T) {
	for _, fill := range []bool{false, true} {
		resume := snapshots(t)
		armed := false
		g, err := NewGenerator(&Options{Now: func() time.Time {
			if armed {
				armed = false
				resume()
			}
			return time.Unix(1_800_000_000, 0)
		}})
		if err != nil {
			t.Fatal(err)
		}
		last := g.New()
		for range 100 {
			armed = true
			ids := make([]ID, 2)
			if fill {
				g.Fill(ids)
			} else {
				ids[0], ids[1] = g.New(), g.New()
			}
			if valueOf(ids[0]) == valueOf(last) || valueOf(ids[0]) != valueOf(ids[1]) || ids[0].Compare(last) <= 0 || ids[1].Compare(ids[0]) <= 0 {
				t.Fatalf("fill %v: %v, %v after %v", fill, ids[0], ids[1], last)
			}
			last = ids[1]
		}
	}
}

// Goroutines that ask after a snapshot get no id with a process value from before, and all of
// them together change it once.
func TestSnapshotBetweenGoroutines(t *testing.T) {
	resume := snapshots(t)
	g, err := NewGenerator(nil)
	if err != nil {
		t.Fatal(err)
	}
	const workers, rounds, kept = 8, 20, 500
	type made struct {
		id              ID
		asked, returned int64 // after which snapshots
	}
	var (
		round atomic.Int64 // how many snapshots were resumed
		all   [workers][]made
		wg    sync.WaitGroup
	)
	for w := range all {
		wg.Add(1)
		go func() {
			defer wg.Done()
			left, before := kept, int64(0)
			for n := round.Load(); n < rounds; n = round.Load() {
				if n != before {
					left, before = kept, n
				}
				if id := g.New(); left > 0 { // the first ids after a snapshot
					all[w] = append(all[w], made{id, n, round.Load()})
					left--
				}
			}
		}()
	}
	for range rounds {
		time.Sleep(time.Millisecond)
		resume()
		round.Add(1)
	}
	wg.Wait()
	seen, values, ended := map[ID]bool{}, map[[4]byte]int64{}, map[[4]byte]int64{}
	for _, ids := range all {
		for i, m := range ids {
			if i > 0 && m.id.Compare(ids[i-1].id) <= 0 || seen[m.id] {
				t.Fatalf("%v again, or not in order", m.id)
			}
			v := valueOf(m.id)
			seen[m.id], values[v] = true, max(values[v], m.asked)
			if end, ok := ended[v]; !ok || m.returned+1 < end { // the snapshot after that may be under way
				ended[v] = m.returned + 1
			}
		}
	}
	for v, asked := range values {
		if asked > ended[v] {
			t.Errorf("an id that was asked for after snapshot %d has the process value %x of snapshot %d or before", asked, v, ended[v])
		}
	}
	if lead := g.Lead(); lead > (rounds+2)*time.Second || len(values) > rounds+1 {
		t.Errorf("%d snapshots: %d process values, %v ahead", rounds, len(values), lead)
	}
}

// That the device is missing, or no such device, is an error only if OID_VMCLOCK names it.
func TestVMClockFiles(t *testing.T) {
	dir := t.TempDir()
	short, page, pipe := filepath.Join(dir, "short"), filepath.Join(dir, "page"), filepath.Join(dir, "pipe")
	for name, text := range map[string][]byte{short: vmPageOf().bytes()[:111], page: vmPageOf().bytes()} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		filepath.Join(dir, "none"): "no such file or directory",
		dir:                        "is a directory",
		pipe:                       "illegal seek",
		os.DevNull:                 "0 bytes, want at least 112",
		short:                      "111 bytes, want at least 112",
		page:                       "",
		"":                         "",
	} {
		t.Setenv("OID_VMCLOCK", name)
		g, err := NewGenerator(nil)
		if want != "" && (err == nil || err.Error() != "objectid: OID_VMCLOCK: "+name+": "+want) || want == "" && err != nil {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
		if err == nil {
			g.New()
			if looks := g.machine != nil; looks != (name == page) {
				t.Errorf("%q: looks at the device %v", name, looks)
			}
		}
	}
	if err := os.Unsetenv("OID_VMCLOCK"); err != nil { // t.Setenv restores it
		t.Fatal(err)
	}
	if _, err := NewGenerator(nil); err != nil {
		t.Errorf("without the variable: %v", err)
	}
}

// The default generator looks, too, and so does NewAt. Where the file cannot be used, they create
// no id, also if the program has recovered from the first panic.
func TestVMClockOfTheDefaultGenerator(t *testing.T) {
	if os.Getenv("OBJECTID_TEST_DEFAULT") != "" {
		if os.Getenv("OID_VMCLOCK") == "/none" {
			for _, f := range []func(){func() { New() }, func() { Fill(make([]ID, 2)) }, Reseed, func() { NewAt(time.Now()) }, func() { NewAt(time.Now()) }, func() { New() }} {
				func() {
					defer func() {
						if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "OID_VMCLOCK") {
							t.Errorf("recovered: %v", err)
						}
					}()
					f()
				}()
			}
		}
		at := time.Unix(1_800_000_000, 0)
		before, dated := New(), NewAt(at)
		page, err := os.OpenFile(os.Getenv("OID_VMCLOCK"), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := page.WriteAt([]byte{9}, vmGeneration); err != nil {
			t.Fatal(err)
		}
		if after := New(); valueOf(after) == valueOf(before) || after.Compare(before) <= 0 {
			t.Errorf("%v after %v", after, before)
		}
		resumed := NewAt(at)
		Reseed()
		if reseeded := NewAt(at); valueOf(dated) == valueOf(resumed) || valueOf(resumed) == valueOf(reseeded) || valueOf(reseeded) == valueOf(New()) {
			t.Errorf("NewAt: %v before a snapshot, then %v, after Reseed %v", dated, resumed, reseeded)
		}
		return
	}
	snapshots(t)
	for name, want := range map[string]string{os.Getenv("OID_VMCLOCK"): "PASS", "/none": "panic: objectid: OID_VMCLOCK: /none: no such file or directory"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestVMClockOfTheDefaultGenerator$")
		cmd.Env = append(os.Environ(), "OBJECTID_TEST_DEFAULT=1", "OID_VMCLOCK="+name)
		if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), want) {
			t.Errorf("%s: %s, want %q", name, out, want)
		}
	}
}

func BenchmarkNewVMClock(b *testing.B) {
	for _, device := range []bool{false, true} {
		if device {
			snapshots(b)
		} else {
			b.Setenv("OID_VMCLOCK", "")
		}
		g, err := NewGenerator(nil)
		if err != nil {
			b.Fatal(err)
		}
		name := map[bool]string{true: "device", false: "none"}[device]
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				g.New()
			}
		})
		b.Run(name+"/parallel", func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					g.New()
				}
			})
		})
	}
}

// The first id after a snapshot has the second of the clock, if that is later than the last one.
func TestSecondAfterASnapshot(t *testing.T) {
	resume := snapshots(t)
	now := time.Unix(1_800_000_000, 0)
	for _, layout := range []Layout{Modern, Java} {
		g, err := NewGenerator(&Options{Layout: layout, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		for _, later := range []time.Duration{time.Second, time.Hour, 0} {
			g.New()
			now = now.Add(later)
			resume()
			if lead := g.New().Time().Sub(now); later > 0 && lead != 0 || later == 0 && lead != time.Second {
				t.Errorf("%v, resumed %v later: an id has the second of %v later", layout, later, lead)
			}
		}
		now = now.Add(time.Minute)
	}
}
