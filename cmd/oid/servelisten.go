package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
)

// listen opens a listener: the socket that systemd passes, a Unix socket (unix:PATH) of
// unix, or a TCP address. chosen means that --listen names it.
func listen(ctx context.Context, address string, chosen bool, unix *unixFlags) (net.Listener, error) {
	passed, err := activation.Listeners()
	switch {
	case err != nil:
		return nil, fmt.Errorf("take the socket of systemd: %w", err)
	case len(passed) > 1:
		return nil, fmt.Errorf("systemd passes %d sockets; want one ListenStream", len(passed))
	case len(passed) == 1 && passed[0] == nil:
		return nil, errors.New("systemd passes a socket that is no stream; want one ListenStream")
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

// checkAddress returns an error for a value of --listen that can never become right.
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

// announced is a listener that calls announce before the first Accept: the server
// has then found the address acceptable.
type announced struct {
	net.Listener
	once     sync.Once
	announce func()
}

func (a *announced) Accept() (net.Conn, error) {
	a.once.Do(a.announce)
	return a.Listener.Accept()
}

// SyscallConn is for the server, which looks whether connections wait to be accepted.
func (a *announced) SyscallConn() (syscall.RawConn, error) {
	if socket, ok := a.Listener.(syscall.Conn); ok {
		return socket.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// where is the URL of a listener, for people.
func (a *announced) where(secure bool) string {
	if a.Addr().Network() == "unix" {
		return "unix:" + a.Addr().String()
	}
	if secure {
		return "https://" + a.Addr().String()
	}
	return "http://" + a.Addr().String()
}

// notify tells systemd, if it has started this program, that it serves, then that it
// lives, and at the end of ctx that it stops.
func notify(ctx context.Context) {
	if sent, _ := daemon.SdNotify(false, daemon.SdNotifyReady); !sent {
		return
	}
	go func() {
		every, _ := daemon.SdWatchdogEnabled(false)
		var beat <-chan time.Time
		if every > 0 {
			t := time.NewTicker(every / 2)
			defer t.Stop()
			beat = t.C
		}
		for {
			select {
			case <-beat:
				_, _ = daemon.SdNotify(false, daemon.SdNotifyWatchdog)
			case <-ctx.Done():
				_, _ = daemon.SdNotify(false, daemon.SdNotifyStopping)
				if beat == nil {
					return
				}
				ctx = context.Background() // it drains, and still lives
			}
		}
	}()
}

// keyPair is a certificate that is read again when its file changes.
type keyPair struct {
	certFile, keyFile string
	warn              func(error)

	mu      sync.Mutex
	pair    *tls.Certificate
	read    [2]time.Time // when the files were written that pair is from
	checked time.Time
}

// serverTLS returns the configuration for a certificate and its key.
func serverTLS(certFile, keyFile string, warn func(error)) (*tls.Config, error) {
	if certFile == "" && keyFile == "" {
		return nil, nil
	}
	if certFile == "" || keyFile == "" {
		return nil, usagef("--tls-cert and --tls-key need each other")
	}
	k := &keyPair{certFile: certFile, keyFile: keyFile, warn: warn}
	if err := k.load(); err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	return &tls.Config{GetCertificate: k.get, MinVersion: tls.VersionTLS12}, nil
}

// load reads the files if they have changed.
func (k *keyPair) load() error {
	k.checked = time.Now()
	var written [2]time.Time
	for i, name := range []string{k.certFile, k.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		written[i] = info.ModTime()
	}
	if k.pair != nil && written == k.read {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(k.certFile, k.keyFile)
	if err != nil {
		return err
	}
	k.pair, k.read = &pair, written
	return nil
}

// get returns the certificate. While the files cannot be read it stays the one before.
func (k *keyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.checked) > time.Second {
		if err := k.load(); err != nil {
			k.warn(err)
		}
	}
	return k.pair, nil
}
