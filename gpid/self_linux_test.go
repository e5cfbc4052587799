package gpid_test

import (
	"bufio"
	"errors"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
)

// TestMain lets the tests start this binary as a process of another run: it
// then prints what it thinks of itself and waits for the end of its input.
func TestMain(m *testing.M) {
	if os.Getenv("GPID_TEST_CHILD") == "" {
		os.Exit(m.Run())
	}
	g, err := gpid.Self("10.0.0.7:8080")
	_, ofErr := gpid.ProcessOf(os.Getpid())
	os.Stdout.WriteString(g.String() + "\t" + errText(err) + "\t" + errText(ofErr) + "\n")
	os.Stdin.Read(make([]byte, 1))
	os.Exit(0)
}

func errText(err error) string {
	if err == nil {
		return "ok"
	}
	return err.Error()
}

// child starts another run of this binary. It returns the child's report, its
// pid as it is seen from here, and a function that ends and reaps it.
func child(t *testing.T, attr *syscall.SysProcAttr) (report []string, pid int, end func()) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "GPID_TEST_CHILD=1")
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = attr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		if attr != nil && (errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC)) {
			t.Skipf("this system lets no process make a pid namespace: %v", err)
		}
		t.Fatal(err)
	}
	end = func() {
		stdin.Close()
		cmd.Wait()
	}
	t.Cleanup(end)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(line, "\n"), "\t"), cmd.Process.Pid, end
}

func TestSelfIsReadOnce(t *testing.T) {
	before := time.Now()
	first, err := gpid.Self("127.0.0.1:8080")
	if err != nil {
		t.Fatal(err)
	}
	again, err := gpid.Self("127.0.0.1:8080")
	if err != nil || again != first {
		t.Errorf("Self = %v, %v, then %v", first, err, again)
	}
	if first.PID() != os.Getpid() || first.Start().After(before) {
		t.Errorf("Self = %v, want pid %d and a start before %v", first, os.Getpid(), before)
	}
	other, err := gpid.Self("127.0.0.1:8081")
	if err != nil || other == first || !other.Start().Equal(first.Start()) {
		t.Errorf("Self at another port = %v, %v, want the start of %v", other, err, first)
	}
}

func TestSelfAddresses(t *testing.T) {
	host, err := gpid.Self("")
	if err != nil {
		t.Fatal(err)
	}
	ip := host.Addr().Addr()
	if host.Addr().Port() != 0 || ip.IsUnspecified() || !ip.IsValid() {
		t.Errorf(`Self("") = %v, want an address of this host and port 0`, host)
	}
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range interfaces {
		if own, ok := i.(*net.IPNet); ok && own.IP.To4() != nil && own.IP.IsGlobalUnicast() {
			if ip.String() != own.IP.String() {
				t.Errorf(`Self("") = %v, want the address %v`, host, own.IP)
			}
			break
		}
	}
	for _, addr := range []string{":8080", "0.0.0.0:8080", "[::]:8080"} {
		g, err := gpid.Self(addr)
		if err != nil || g.Addr().Addr() != ip || g.Addr().Port() != 8080 {
			t.Errorf("Self(%q) = %v, %v, want %v:8080", addr, g, err, ip)
		}
	}
	if g, err := gpid.Self("[::ffff:10.0.0.7]:80"); err != nil || g.Addr().String() != "10.0.0.7:80" {
		t.Errorf("Self of a mapped address = %v, %v", g, err)
	}
	for _, addr := range []string{"localhost:80", "10.0.0.7", ":http", "10.0.0.7:", "[fe80::1%lo]:80", "2001:db8::1:80"} {
		if g, err := gpid.Self(addr); !errors.Is(err, gpid.ErrInvalid) {
			t.Errorf("Self(%q) = %v, %v, want ErrInvalid", addr, g, err)
		}
	}
}

func TestOfThisProcess(t *testing.T) {
	p, err := gpid.ProcessOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := gpid.ProcessOf(os.Getpid()); err != nil || again != p {
		t.Errorf("Of twice: %+v and %+v, %v", p, again, err)
	}
	if !gpid.KnowsItsScope() {
		t.Error("the scope of this process is read again")
	}
	if alive, err := p.Alive(); err != nil || !alive {
		t.Errorf("this process alive: %v, %v", alive, err)
	}
	started, err := p.Started()
	self, _ := gpid.Self("127.0.0.1:1")
	// A busy machine may take its time from the start to the initialisation.
	if d := self.Start().Sub(started); err != nil || d < 0 || d >= time.Minute {
		t.Errorf("started %v, %v, but Self says %v", started, err, self.Start())
	}
	g, err := p.GPID("127.0.0.1:1")
	if err != nil || g.PID() != os.Getpid() || !g.Start().Equal(started) {
		t.Errorf("GPID = %v, %v, want start %v", g, err, started)
	}
}

func TestTwoRunsOfOneProgram(t *testing.T) {
	report1, pid1, end1 := child(t, nil)
	report2, pid2, _ := child(t, nil)
	g1, err1 := gpid.Parse(report1[0])
	g2, err2 := gpid.Parse(report2[0])
	if err1 != nil || err2 != nil || g1.Compare(g2) != -1 || g1.PID() != pid1 || g2.PID() != pid2 {
		t.Errorf("two runs at one address: %v and %v, want the later one to sort later", report1, report2)
	}
	p1, err := gpid.ProcessOf(pid1)
	if err != nil {
		t.Fatal(err)
	}
	if alive, err := p1.Alive(); !alive || err != nil {
		t.Errorf("child alive: %v, %v", alive, err)
	}
	if err := syscall.Kill(pid1, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// Until it is waited for, the child is a zombie that still has its pid.
	deadline := time.Now().Add(10 * time.Second)
	for alive := true; alive; {
		if alive, err = p1.Alive(); err != nil || time.Now().After(deadline) {
			t.Fatalf("killed child alive: %v, %v", alive, err)
		}
	}
	end1()
	if _, err := gpid.ProcessOf(pid1); !errors.Is(err, gpid.ErrNoProcess) {
		t.Errorf("Of a process that was waited for: %v, want ErrNoProcess", err)
	}
}

// In a pid namespace of its own, as in a container, a process has pid 1 and the
// start time alone makes the difference. Here the child still sees the /proc of
// its parent's namespace, whose pids are not its own.
func TestContainersHavePID1(t *testing.T) {
	attr := func() *syscall.SysProcAttr {
		id := []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		return &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID,
			UidMappings: id,
		}
	}
	report1, _, end1 := child(t, attr())
	end1()
	report2, _, _ := child(t, attr())
	g1, err1 := gpid.Parse(report1[0])
	g2, err2 := gpid.Parse(report2[0])
	if err1 != nil || err2 != nil || g1.PID() != 1 || g2.PID() != 1 || g1.Compare(g2) != -1 {
		t.Errorf("two containers at one address: %v and %v, want pid 1 and a later start", report1, report2)
	}
	if !strings.Contains(report1[2], "another PID namespace") {
		t.Errorf("Of(1) with the parent's /proc: %s, want a refusal", report1[2])
	}
}

func TestOfNoProcess(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/kernel/pid_max")
	if err != nil {
		t.Fatal(err)
	}
	limit, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if p, err := gpid.ProcessOf(limit + 1); !errors.Is(err, gpid.ErrNoProcess) {
		t.Errorf("Of(pid_max + 1) = %+v, %v, want ErrNoProcess", p, err)
	}
}
