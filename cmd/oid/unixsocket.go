package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/pflag"
)

// unixFlags are the flags --mode and --group of a Unix socket.
type unixFlags struct {
	mode, group string
}

func (u *unixFlags) add(f *pflag.FlagSet, mode string) {
	f.StringVar(&u.mode, "mode", mode, "permissions of a Unix socket, in octal `DIGITS`")
	f.StringVar(&u.group, "group", "", "`GROUP` of a Unix socket, by name or number")
}

// check returns an error for a value that can never become right.
func (u *unixFlags) check() error {
	if _, err := strconv.ParseUint(u.mode, 8, 9); err != nil {
		return usagef("--mode %s: want permissions in octal digits, such as 0660", u.mode)
	}
	return nil
}

// listen listens on a Unix socket. One that a killed program left behind is replaced.
func (u *unixFlags) listen(ctx context.Context, path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSocket {
		c, err := net.DialTimeout("unix", path, time.Second)
		if err == nil {
			c.Close()
		}
		if !errors.Is(err, syscall.ECONNREFUSED) { // a busy program may not accept it in time
			return nil, fmt.Errorf("listen on unix:%s: another program serves there; end it, or choose another path with --listen", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("listen on unix:%s: %w", path, err)
		}
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on unix:%s: %w", path, err)
	}
	if err := u.apply(path); err != nil {
		return nil, fmt.Errorf("listen on unix:%s: %w", path, errors.Join(err, l.Close()))
	}
	return l, nil
}

// apply gives the socket its group and then its permissions.
func (u *unixFlags) apply(path string) error {
	if u.group != "" {
		g, err := user.LookupGroup(u.group)
		if err != nil {
			if g, err = user.LookupGroupId(u.group); err != nil {
				err = errors.New("no such group")
			}
		}
		if err == nil {
			id, _ := strconv.Atoi(g.Gid)
			err = os.Chown(path, -1, id)
		}
		if err != nil {
			return fmt.Errorf("--group %s: %w", u.group, err)
		}
	}
	mode, _ := strconv.ParseUint(u.mode, 8, 9) // see check
	return os.Chmod(path, fs.FileMode(mode))
}
