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

// listen opens a listener: on the socket that systemd has passed, or else on an address that
// [checkAddress] has returned. chosen reports that --listen was given. unix are the settings
// of a Unix socket.
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
		return nil, fmt.Errorf("listen on %s: %w; end the program that uses it, or choose another port", address, err)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return l, nil
}

// checkAddress checks the address that a flag has: ADDRESS:PORT, unix:PATH or PATH. It writes
// a path as unix:PATH.
func checkAddress(ctx context.Context, flag string, address *string) (err error) {
	if path, ok := strings.CutPrefix(*address, "unix:"); ok || filepath.IsAbs(path) {
		path, err = absolute(flag, path, "unix:/run/oid/http.sock")
		*address = "unix:" + path
		return err
	}
	host, port, err := net.SplitHostPort(*address)
	if err != nil {
		return usagef("%s %s: want ADDRESS:PORT or unix:/PATH, such as 127.0.0.1:8024 or unix:/run/oid/http.sock", flag, *address)
	}
	if _, err := net.DefaultResolver.LookupPort(ctx, "tcp", port); err != nil {
		return usagef("listen on %s: %q is not a port", net.JoinHostPort(host, port), port)
	}
	return nil
}

// absolute returns the absolute path that a flag names. If the path is relative, its error
// says what to type instead; example is a valid value of the flag.
func absolute(flag, path, example string) (string, error) {
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	if abs, err := filepath.Abs(path); err == nil && path != "" && !strings.ContainsAny(path, ":@~") {
		example = abs
	}
	return "", usagef("%s %q: want an absolute path, such as %s %s", flag, path, flag, example)
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

// maxSocketPath is how many bytes the path of a Unix socket may have, by unix(7).
const maxSocketPath = 107

// unixFlags are the settings of a Unix socket: the flags --mode and --group.
type unixFlags struct {
	mode, group string
	created     bool // listen has created a socket
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
	if len(path) > maxSocketPath {
		return nil, usagef("listen on unix:%s: the path has %d bytes; a socket's path has at most %d, choose a shorter one", path, len(path), maxSocketPath)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("create the folder of the socket: %w", err)
	}
	switch info, err := os.Lstat(path); {
	case err == nil && info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("listen on unix:%s: this is no socket; remove it, or choose another path", path)
	case err == nil:
		c, err := net.DialTimeout("unix", path, time.Second)
		if err == nil {
			c.Close()
		}
		if !errors.Is(err, syscall.ECONNREFUSED) { // a program is there, even if it is too busy to accept
			return nil, fmt.Errorf("listen on unix:%s: another program serves there; end it, or choose another path", path)
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
	u.created = true
	return l, nil
}

// apply sets the group of the socket and then its permissions. If somebody else who may write
// to its folder has replaced the socket by a link to elsewhere, nothing changes there.
func (u *unixFlags) apply(path string) error {
	folder, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer folder.Close()
	name := filepath.Base(path)
	if u.group != "" {
		g, err := user.LookupGroup(u.group)
		if err != nil {
			if g, err = user.LookupGroupId(u.group); err != nil {
				err = errors.New("no such group")
			}
		}
		if err == nil {
			id, _ := strconv.Atoi(g.Gid)
			err = folder.Lchown(name, -1, id)
		}
		if err != nil {
			return fmt.Errorf("--group %s: %w", u.group, err)
		}
	}
	mode, _ := strconv.ParseUint(u.mode, 8, 9) // see check
	return folder.Chmod(name, fs.FileMode(mode))
}
