package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/pflag"
)

// listen opens a listener: on the socket that systemd has passed, or else on the address,
// which is a Unix socket (unix:PATH) or a TCP address. chosen reports that --listen was
// given. unix are the settings of a Unix socket.
func listen(ctx context.Context, address string, chosen bool, unix *unixFlags) (net.Listener, error) {
	passed, err := activation.Listeners()
	switch {
	case err != nil:
		return nil, fmt.Errorf("use the listening socket passed by systemd: %w", err)
	case len(passed) > 1:
		return nil, fmt.Errorf("systemd passes %d sockets; want one ListenStream", len(passed))
	case len(passed) == 1 && passed[0] == nil:
		return nil, errors.New("systemd passes a socket that is not a stream; want one ListenStream")
	case len(passed) == 1 && chosen:
		return nil, usagef("systemd passes a socket, and --listen asks for another; remove one of them")
	case len(passed) == 1:
		return passed[0], nil
	}
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		return unix.listen(ctx, path)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("listen on %s: %w; end the program that uses it, or choose another port with --listen", address, err)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return l, nil
}

// checkAddress returns an error if a value of --listen is invalid.
func checkAddress(ctx context.Context, address string) error {
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		if path == "" {
			return usagef("--listen %s: want unix:PATH", address)
		}
		return nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return usagef("--listen %s: want ADDRESS:PORT, such as 127.0.0.1:8024 or :8024", address)
	}
	if _, err := net.DefaultResolver.LookupPort(ctx, "tcp", port); err != nil {
		return usagef("listen on %s: %q is not a port", net.JoinHostPort(host, port), port)
	}
	return nil
}

// urlOf returns the URL of a listener, to show to people.
func urlOf(a net.Addr, secure bool) string {
	if a.Network() == "unix" {
		return "unix:" + a.String()
	}
	if secure {
		return "https://" + a.String()
	}
	return "http://" + a.String()
}

// notify tells systemd that this program serves and, when ctx ends, that it stops. It does
// nothing if systemd has not started this program.
func notify(ctx context.Context) {
	if sent, _ := daemon.SdNotify(false, daemon.SdNotifyReady); sent {
		context.AfterFunc(ctx, func() { _, _ = daemon.SdNotify(false, daemon.SdNotifyStopping) })
	}
}

// serverTLS returns the configuration for a certificate and its key. It reads their files
// again at most once per second. If that fails, it calls warn and keeps the last certificate.
func serverTLS(certFile, keyFile string, warn func(error)) (*tls.Config, error) {
	if certFile == "" && keyFile == "" {
		return nil, nil
	}
	if certFile == "" || keyFile == "" {
		return nil, usagef("give both --tls-cert and --tls-key, or neither")
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	var mu sync.Mutex
	current, checked := &pair, time.Now()
	get := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(checked) > time.Second {
			checked = time.Now()
			if pair, err := tls.LoadX509KeyPair(certFile, keyFile); err != nil {
				warn(err)
			} else {
				current = &pair
			}
		}
		return current, nil
	}
	return &tls.Config{GetCertificate: get, MinVersion: tls.VersionTLS12}, nil
}

// unixFlags are the settings of a Unix socket: the flags --mode and --group.
type unixFlags struct {
	mode, group string
	makeFolder  bool // create the folder of the socket
}

func (u *unixFlags) add(f *pflag.FlagSet, mode string) {
	f.StringVar(&u.mode, "mode", mode, "permissions of a Unix socket, in octal `DIGITS`")
	f.StringVar(&u.group, "group", "", "`GROUP` of a Unix socket, by name or number")
}

// check returns an error if --mode is invalid.
func (u *unixFlags) check() error {
	if _, err := strconv.ParseUint(u.mode, 8, 9); err != nil {
		return usagef("--mode %s: want permissions in octal digits, such as 0660", u.mode)
	}
	return nil
}

// listen listens on a Unix socket. It replaces a socket that a killed program has left.
func (u *unixFlags) listen(ctx context.Context, path string) (net.Listener, error) {
	if path == "" {
		return nil, usagef("$XDG_RUNTIME_DIR is not set; name the path of the socket with --listen")
	}
	if u.makeFolder {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, fmt.Errorf("create the folder of the socket: %w", err)
		}
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSocket {
		c, err := net.DialTimeout("unix", path, time.Second)
		if err == nil {
			c.Close()
		}
		if !errors.Is(err, syscall.ECONNREFUSED) { // a program is there, even if it is too busy to accept
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

// apply sets the group of the socket and then its permissions.
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
