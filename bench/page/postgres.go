package page

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// StartPostgres starts a PostgreSQL server with a new database and connects to it. If PostgreSQL is
// not installed, the error wraps [exec.ErrNotFound]. The server
// must not be root's, so then it is nobody's. pid is that of its first process.
func StartPostgres(ctx context.Context) (conn *pgx.Conn, pid int, stop func(), err error) {
	programs, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if programs == nil {
		return nil, 0, nil, fmt.Errorf("PostgreSQL: %w", exec.ErrNotFound)
	}
	bin := filepath.Dir(slices.Max(programs))
	folder, err := os.MkdirTemp("", "bench-postgres-")
	if err != nil {
		return nil, 0, nil, err
	}
	attr := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		nobody, err := user.Lookup("nobody")
		if err != nil {
			return nil, 0, nil, err
		}
		uid, _ := strconv.Atoi(nobody.Uid)
		gid, _ := strconv.Atoi(nobody.Gid)
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(folder, uid, gid); err != nil {
			return nil, 0, nil, err
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, name), args...)
		cmd.SysProcAttr, cmd.Dir = attr, folder
		return cmd
	}
	if out, err := command("initdb", "-D", folder+"/data", "-U", "bench", "-A", "trust", "-E", "UTF8", "--no-locale").CombinedOutput(); err != nil {
		return nil, 0, nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, 0, nil, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	server := command("postgres", "-D", folder+"/data", "-h", "127.0.0.1", "-p", strconv.Itoa(port), "-k", "", "-c", "shared_buffers=512MB")
	if err := server.Start(); err != nil {
		return nil, 0, nil, err
	}
	halt := func() {
		_ = server.Process.Signal(os.Interrupt) // fast shutdown
		_ = server.Wait()
		_ = os.RemoveAll(folder)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		conn, err := pgx.Connect(ctx, fmt.Sprintf("postgres://bench@127.0.0.1:%d/postgres?sslmode=disable", port))
		if err == nil {
			return conn, server.Process.Pid, func() { conn.Close(context.Background()); halt() }, nil
		}
		if time.Now().After(end) || ctx.Err() != nil {
			halt()
			return nil, 0, nil, err
		}
	}
}
