package agent

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// The lines of a process that has ended may be read after another one, which is
// recorded, has got its pid. They say nothing of that one: they are recorded as of a process
// of which only the pid and the user are known.
func TestEndedPeer(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	child := exec.Command("python3", "-c", "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])", socket)
	if err := child.Run(); err != nil {
		testenv.Missing(t, "python3 connects to the socket: "+err.Error())
	}
	u, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	f, err := u.File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	shown, err := registry.Describe(&registry.AdoptOptions{PID: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	own := &process{RemoteOptions: registry.RemoteOptions{Kernel: shown.Kernel, Program: shown.Program}}
	a := &agent{latest: map[int]*process{os.Getpid(): own}, processes: map[*process]struct{}{}}
	c := &conn{fd: int(f.Fd()), pid: os.Getpid(), user: 12, since: time.Now()} // as if it was used again
	c.look()
	p, err := a.claim(c, "oid1 "+objectid.New().String())
	if err != nil || len(own.Claims) > 0 || p == own {
		t.Fatalf("the id of another process is added: %v, %v", own.Claims, err)
	}
	if p.Kernel != (gpid.Process{}) || !p.StartUnknown || p.GPID.PID() != os.Getpid() || p.Labels["process.user.id"] != "12" || p.Reason != neverSeen || p.Ended.IsZero() {
		t.Errorf("recorded as %+v", p)
	}
}
