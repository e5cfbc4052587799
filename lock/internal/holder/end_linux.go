package holder

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/backoff"
)

// awaitEnd waits until p, a process of this host, has ended.
func awaitEnd(ctx context.Context, p gpid.Process) error {
	fd, err := unix.PidfdOpen(p.PID, unix.PIDFD_NONBLOCK)
	if errors.Is(err, unix.ESRCH) {
		return nil
	} else if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	// The kernel may have reused the pid before the descriptor was opened. From now on the
	// descriptor stands for one process: check that it is p.
	if alive, err := p.Alive(); err != nil || !alive {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		if err != nil && !errors.Is(err, unix.EINTR) {
			failed = err
		}
		return n > 0 || failed != nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(err, failed)
}

// awaitGroup waits until no process of a group runs. The kernel has no descriptor for a
// group, so awaitGroup polls.
func awaitGroup(ctx context.Context, pgid int) error {
	pause := backoff.Backoff{First: 2 * time.Millisecond, Max: 25 * time.Millisecond}
	for pgid > 0 && !groupEnded(pgid) {
		if err := backoff.Sleep(ctx, pause.Next()); err != nil {
			return err
		}
	}
	return nil
}

// groupEnded reports whether no process of a group runs. Zombies do not run. In doubt it
// returns false.
func groupEnded(pgid int) bool {
	if err := unix.Kill(-pgid, 0); errors.Is(err, unix.ESRCH) {
		return true
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	seen := 0
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // probably it has ended
		}
		// After the last parenthesis: state, parent, process group.
		s := string(text)
		fields := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
		if len(fields) < 3 || fields[2] != strconv.Itoa(pgid) {
			continue
		}
		seen++
		if !strings.Contains("ZXx", fields[0]) {
			return false
		}
	}
	return seen > 0 // if 0, /proc hides the processes of other users
}
