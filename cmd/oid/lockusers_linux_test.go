package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// letUsersReach lets all users reach a file in a temporary folder.
func letUsersReach(t *testing.T, path string) {
	t.Helper()
	for dir := filepath.Dir(path); dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// machine is a folder that users of this machine share.
type machine struct {
	t      *testing.T
	folder string // of the locks
}

var machineUsers = []string{"root", "www-data", "nobody"}

// newMachine makes a folder for locks of all users, as the page says: with install -d -m 1777.
func newMachine(t *testing.T) *machine {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to run commands as other users")
	}
	oid, err := exec.LookPath("oid")
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t, filepath.Join(t.TempDir(), "locks")}
	letUsersReach(t, oid)
	letUsersReach(t, m.folder)
	testenv.Must(exec.Command("install", "-d", "-m", "1777", m.folder).CombinedOutput())(t)
	return m
}

// command returns a command that a user runs.
func (m *machine) command(name, program string, args ...string) *exec.Cmd {
	m.t.Helper()
	u := testenv.Must(user.Lookup(name))(m.t)
	uid, gid := testenv.Must(strconv.Atoi(u.Uid))(m.t), testenv.Must(strconv.Atoi(u.Gid))(m.t)
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = "/", []string{"PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return cmd
}

// oid runs oid lock as a user, and returns what it prints and its exit code.
func (m *machine) oid(user string, args ...string) (out string, code int) {
	m.t.Helper()
	cmd := m.command(user, "oid", slices.Concat([]string{"lock", "--locks", "file:" + m.folder}, args)...)
	text, _ := cmd.CombinedOutput()
	return string(text), cmd.ProcessState.ExitCode()
}

// hold lets a user hold the lock job until the returned function is called. It returns the fence.
func (m *machine) hold(user string) (fence string, release func()) {
	m.t.Helper()
	cmd := m.command(user, "oid", "lock", "--locks", "file:"+m.folder, "job", "--", "sh", "-c", "echo $OID_LOCK_FENCE; read -r _")
	in, out := testenv.Must(cmd.StdinPipe())(m.t), testenv.Must(cmd.StdoutPipe())(m.t)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = cmd.Process.Kill() })
	if _, err := fmt.Fscanln(out, &fence); err != nil {
		m.t.Fatalf("%s does not get the lock: %v", user, err)
	}
	return fence, func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 1 { // that of read
			m.t.Errorf("%s releases the lock: %v", user, err)
		}
	}
}

// In a folder with the sticky bit, no two users hold a lock at the same time, whichever of them
// came first. They see each other's locks and ticks, and their fences increase.
func TestLockUsersShareAFolder(t *testing.T) {
	m := newMachine(t)
	if out, code := m.oid("www-data", "job", "--", "true"); code != exitLockFailed || !strings.Contains(out, "its owner, user 0, must use it first") {
		t.Errorf("before root has used it: exit code %d, %s", code, out)
	}
	if out, code := m.oid("root", "--list"); code != 0 || out != "" {
		t.Fatalf("root prepares the folder: exit code %d, %s", code, out)
	}
	last := ""
	for _, first := range machineUsers {
		for _, second := range machineUsers {
			fence, release := m.hold(first)
			if out, code := m.oid(second, "job", "--wait", "0", "--skipped", "9", "--", "echo", "ran"); code != 9 || out != "" {
				t.Errorf("%s holds the lock, and %s gets exit code %d, %q", first, second, code, out)
			}
			for _, show := range [][]string{{"--status", "job"}, {"--list"}} {
				if out, code := m.oid(second, show...); code != 0 || !regexp.MustCompile(`^job: held by .*, fence `+fence+`\n  pid \d+ on .*, alive: `).MatchString(out) {
					t.Errorf("%s holds the lock with fence %s, and %s sees with %s: exit code %d, %s", first, fence, second, show, code, out)
				}
			}
			key := "key=" + first + "-" + second // of another lock, which is free
			if out, code := m.oid(first, "tick", "--once", key, "--wait", "0", "--", "true"); code != 0 {
				t.Errorf("%s runs a tick: exit code %d, %s", first, code, out)
			}
			if out, code := m.oid(second, "tick", "--once", key, "--skipped", "9", "--", "echo", "ran"); code != 9 || out != "" {
				t.Errorf("%s has run the tick, and %s gets exit code %d, %q", first, second, code, out)
			}
			release()
			next, release := m.hold(second)
			release()
			if fence <= last || next <= fence {
				t.Errorf("fences of %s and then %s: %s, %s, after %s; want that they rise", first, second, fence, next, last)
			}
			last = next
		}
	}
	if out, _ := m.oid("nobody", "--status", "tick"); strings.Count(out, " done on ") != 9 {
		t.Errorf("nobody sees %s, want 9 ticks", out)
	}
}

// A user who wants to harm others can neither take a lock that is held, nor make oid write to a
// file elsewhere, nor change the records of others.
func TestLockUserWhoHarms(t *testing.T) {
	m := newMachine(t)
	victim := filepath.Join(filepath.Dir(m.folder), "victim")
	if err := os.WriteFile(victim, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, sum := filepath.Join(m.folder, "all.lock"), "5e8c9902207afaeb7120430c585a445f"
	harm := func(script string) {
		t.Helper()
		out, _ := m.command("nobody", "sh", "-c", "cd "+m.folder+"; V="+victim+" S="+sum+"; "+script).CombinedOutput()
		t.Logf("%s: %s", script, out)
	}
	for _, script := range []string{"echo >all.lock", "ln -s $V all.lock", "mkfifo all.lock", "mkdir all.lock"} {
		harm(script)
		if out, code := m.oid("root", "job", "--", "echo", "ran"); code != exitLockFailed || !strings.Contains(out, all+" does not belong to the owner of the folder, user 0, who must remove it") {
			t.Errorf("after %q: exit code %d, %s", script, code, out)
		}
		if err := os.Remove(all); err != nil {
			t.Fatal(err)
		}
	}
	harm("ln -s $V $S.0.json; ln -s $V $S.33.json; mkfifo $S.4.json; echo '{' >$S.5.json; ln -s $V $S.x.part")
	fence, release := m.hold("root")
	harm("rm -f all.lock; mv all.lock other; : >all.lock; rm -f $S.0.json; mv $S.0.json other; echo x >$S.0.json; ln -sf $V $S.0.json")
	if out, code := m.oid("www-data", "job", "--wait", "0", "--", "echo", "ran"); code != exitNotLocked {
		t.Errorf("while root holds the lock: exit code %d, %s", code, out)
	}
	if out, _ := m.oid("www-data", "--status", "job"); !strings.Contains(out, ", fence "+fence+"\n") {
		t.Errorf("while root holds the lock with fence %s: %s", fence, out)
	}
	release()
	if out, code := m.oid("www-data", "job", "--", "true"); code != exitLockFailed || !strings.Contains(out, "a file of another user is there") {
		t.Errorf("a user whose record another one has made: exit code %d, %s", code, out)
	}
	harm("rm $S.33.json")
	if next, release := m.hold("www-data"); next <= fence {
		t.Errorf("fence %s after %s", next, fence)
	} else {
		release()
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "kept" {
		t.Errorf("the file elsewhere: %q, %v", text, err)
	}
	if info, err := os.Stat(victim); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file elsewhere: %v, %v", info.Mode(), err)
	}
}

// A user cannot make others wait, or fail, by files in place of records: pipes into which he
// might write for ever, sockets, folders, and files that only he reads.
func TestLockUserWhoMakesOddFiles(t *testing.T) {
	m := newMachine(t)
	m.oid("root", "--list")
	const odd = `import os, socket, sys, time
os.chdir(sys.argv[1])
begin = "5e8c9902207afaeb7120430c585a445f."
os.mkfifo(begin + "pipe.json")
pipe = os.open(begin + "pipe.json", os.O_RDWR)
socket.socket(socket.AF_UNIX).bind(begin + "socket.json")
os.mkdir(begin + "folder.json")
os.close(os.open(begin + "secret.json", os.O_CREAT | os.O_WRONLY, 0))
print("made", flush=True)
sys.stdin.read()`
	cmd := m.command("nobody", testenv.Program(t, "/usr/bin/python3", "python3"), "-c", odd, m.folder)
	stdin, out := testenv.Must(cmd.StdinPipe())(t), testenv.Must(cmd.StdoutPipe())(t)
	cmd.Stderr = os.Stderr
	testenv.NoError(t, cmd.Start())
	made := ""
	_, err := fmt.Fscanln(out, &made)
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	testenv.NoError(t, err)
	time.AfterFunc(20*time.Second, func() { _ = stdin.Close() }) // a test that fails ends
	began := time.Now()
	for _, user := range []string{"root", "www-data"} {
		for _, args := range [][]string{{"job", "--wait", "0", "--", "echo", "ran"}, {"--status", "job"}, {"--list"}} {
			if out, code := m.oid(user, args...); code != 0 {
				t.Errorf("%s, %s: exit code %d, %s", user, args, code, out)
			}
		}
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("it took %v", took)
	}
}

// By default, root and other users share their locks. A user without the folder of all users is
// told.
func TestLockDefaultFolderIsForAllUsers(t *testing.T) {
	m := newMachine(t)
	testenv.Program(t, "setpriv", "util-linux")
	home := filepath.Join(filepath.Dir(m.folder), "home")
	script := `mount -t tmpfs -o mode=755 none /var/lib || exit 77
mkdir -m 777 $0
as() { user=$1; shift; setpriv --reuid=$user --regid=$(id -g $user) --clear-groups env -u XDG_DATA_HOME "$@"; }
as www-data HOME=$0 oid lock job -- echo alone
umask 077
as root oid lock job -- setpriv --reuid=www-data --regid=www-data --clear-groups env -u OID_LOCK_OWNER -u XDG_DATA_HOME -u HOME oid lock job --wait 0 -- echo twice
echo $?
as nobody -u HOME oid lock job -- oid lock --status job
stat -c '%n %U %a' /var/lib/* /var/lib/oid-locks/all.lock`
	cmd := exec.Command("unshare", "-m", "sh", "-c", script, home)
	cmd.Dir = "/"
	text, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() == 77 {
		t.Skipf("cannot mount: %s", text)
	}
	want := regexp.MustCompile(`^oid: warning: the locks in ` + home + `/\.local/share/oid/locks are for this user alone; for locks of all users see "oid help urls"
alone
oid: created /var/lib/oid-locks: from now on, all users of this machine have their locks there by default
oid: held by another: "job": .*
112
job: held by .*
  pid .*, alive: oid lock job -- oid lock --status job
/var/lib/oid-locks root 1777
/var/lib/oid-locks/all.lock root 666
$`)
	if !want.Match(text) {
		t.Errorf("said\n%s", text)
	}
}
