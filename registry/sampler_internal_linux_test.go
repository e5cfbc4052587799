package registry

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
)

const bootID = "3f2252fc-f928-46ec-9fcc-46ba756037a1"

// procTree writes a proc file system with one process, number 4711, whose stat
// file is given; it has three open files.
func procTree(t *testing.T, stat string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"sys/kernel/random/boot_id": bootID + "\n",
		"99/status":                 "NSpid:\t99\n",
		"99/stat":                   stat,
		"1/stat":                    "1 (init) S",
		"4711/stat":                 stat,
		"4711/fd/0":                 "",
		"4711/fd/1":                 "",
		"4711/fd/2":                 "",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "99/ns"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"self": "99", "99/ns/pid": "pid:[4026531836]"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func statLine(pid int, name, state string, ticks uint64) string {
	return fmt.Sprintf("%d (%s) %s 1 77 77 0 -1 4194304 101 0 0 0 150 50 0 0 20 0 7 0 %d 3133440 394 "+
		"18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n", pid, name, state, ticks)
}

var sampled = gpid.Process{Boot: bootID, Namespace: 4026531836, PID: 4711, Ticks: 91910}

func TestLoadIsReadFromStat(t *testing.T) {
	for _, name := range []string{"cat", ") ", "x) R 1 1 1 (y", ")))", "evil) Z 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 666 1"} {
		s := sampler{root: procTree(t, statLine(4711, name, "S", 91910)), kernel: sampled}
		got, err := s.take()
		want := noLoad
		want.CPU, want.RSS, want.Files, want.Threads = 2*time.Second, 394*int64(os.Getpagesize()), 3, 7
		if err != nil || got != want {
			t.Errorf("process %q: %+v, %v, want %+v: a new number needs its file in procTree, and its value here", name, got, err, want)
		}
	}
}

// The kernel says whether a process whose load cannot be read has ended.
func TestLoadOfAnEndedProcess(t *testing.T) {
	start := func() (*exec.Cmd, gpid.Process) {
		cmd := exec.Command("sleep", "600")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p, err := gpid.ProcessOf(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		return cmd, p
	}
	cmd, gone := start()
	cmd.Process.Kill()
	cmd.Wait()
	cmd, zombie := start()
	defer cmd.Wait()
	cmd.Process.Kill()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if alive, err := zombie.Alive(); err == nil && !alive {
			break
		}
	}
	cmd, reused := start()
	defer cmd.Wait()
	defer cmd.Process.Kill()
	reused.Ticks++
	for name, kernel := range map[string]gpid.Process{"gone": gone, "not waited for": zombie, "pid reused": reused} {
		s := sampler{root: "/proc", kernel: kernel}
		if load, err := s.take(); endOf(err) != ProcessEnded || load.RSS != Unmeasured {
			t.Errorf("%s: %+v, %v, want errEnded", name, load, err)
		}
	}
}

// A /proc that is missing, cut short or wrong gives an error that says so, and
// never the news that the process has ended.
func TestLoadFromAProcThatLies(t *testing.T) {
	t.Parallel()
	good := statLine(4711, "x", "S", 91910)
	roots := map[string]string{
		"missing":          filepath.Join(t.TempDir(), "none"),
		"empty":            t.TempDir(),
		"empty stat":       procTree(t, ""),
		"another process":  procTree(t, statLine(4712, "x", "S", 91911)),
		"letters":          procTree(t, strings.Replace(good, " 150 ", " 15o ", 1)),
		"no parenthesis":   procTree(t, strings.NewReplacer("(", "", ")", "").Replace(good)),
		"turned around":    procTree(t, ") 4711 ("),
		"ends at the name": procTree(t, "4711 (x)"),
	}
	for i := 1; i < strings.Index(good, "91910")+5; i++ {
		roots[fmt.Sprintf("cut after %d bytes", i)] = procTree(t, good[:i])
	}
	for name, root := range roots {
		for _, self := range []bool{false, true} {
			s := sampler{root: root, kernel: sampled, self: self}
			load, err := s.take()
			if err == nil || endOf(err) != "" || load.RSS != Unmeasured || load.Threads != Unmeasured {
				t.Errorf("%s, self %v: %+v, %v, want an error that does not say it has ended", name, self, load, err)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "registry: read load") {
				t.Errorf("%s: error %q does not say where it comes from", name, err)
			}
			if self && load.Goroutines < 1 {
				t.Errorf("%s: %d goroutines, which /proc has no part in", name, load.Goroutines)
			}
		}
	}
}

func TestFilesOfAnotherUser(t *testing.T) {
	root := procTree(t, statLine(4711, "x", "S", 91910))
	if err := os.RemoveAll(filepath.Join(root, "4711/fd")); err != nil {
		t.Fatal(err)
	}
	s := sampler{root: root, kernel: sampled}
	if load, err := s.take(); err != nil || load.Files != Unmeasured || load.Threads != 7 {
		t.Errorf("%+v, %v, want the rest without the files", load, err)
	}
}

func TestSelfLoad(t *testing.T) {
	s := sampler{root: "/proc", self: true}
	load, err := s.take()
	if err != nil || load.RSS <= 0 || load.Threads <= 0 || load.Files <= 0 || load.Heap <= 0 || load.CPU < 0 {
		t.Errorf("load of this process: %+v, %v", load, err)
	}
}

func FuzzStat(f *testing.F) {
	f.Add(statLine(4711, "x", "S", 91910))
	f.Add("4711 (")
	f.Add(")(")
	root := ""
	f.Fuzz(func(t *testing.T, text string) {
		if root == "" {
			root = procTree(t, text)
		}
		if err := os.MkdirAll(filepath.Join(root, "4711"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "4711/stat"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s := sampler{root: root, kernel: sampled}
		_, _ = s.take() // must not panic
	})
}
