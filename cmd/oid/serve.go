package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/store"
)

func newServeCommand(std streams) *cobra.Command {
	var (
		where     storeFlag
		options   server.Options
		listen    string
		tokenFile string
		quiet     bool
		asJSON    jsonFlag
	)
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the web page and the HTTP API",
		Long: `Serve a page for people and an HTTP API for programs in other languages: ids in
bulk, creation times and processes of ids, ranges, and the census of a dump.

On a loopback address, the default, only this machine can connect. Any other
address needs --token-file, a file with a token of at least 16 characters. Programs
send the token as "Authorization: Bearer TOKEN", people log in with it once.

The log goes to standard error. After an interrupt /readyz fails, the server goes on
for --drain, then waits up to --grace for requests in flight, half of that for
uploads, and records its end in the registry. A second interrupt ends it at once.

` + storeHelp,
		Example: `  oid serve
  oid serve --listen 127.0.0.1:0 --store sqlite:/var/lib/oid.db
  oid serve --listen 0.0.0.0:8024 --token-file /etc/oid.token --store mongodb://db/oid
  curl 127.0.0.1:8024/v1/ids -H 'Accept: text/plain' -H 'Content-Type: application/json' -d '{"count": 3}'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := where.check()
			if err != nil {
				return err
			}
			if host, port, err := net.SplitHostPort(listen); err != nil {
				return usagef("--listen %s: want ADDRESS:PORT, such as 127.0.0.1:8024 or :8024", listen)
			} else if _, err := net.DefaultResolver.LookupPort(cmd.Context(), "tcp", port); err != nil {
				return usagef("listen on %s: %q is not a port", net.JoinHostPort(host, port), port)
			}
			if tokenFile != "" {
				if options.Token, err = readToken(tokenFile); err != nil {
					return err
				}
			}
			var handler slog.Handler = slog.NewTextHandler(std.err, nil)
			if asJSON {
				handler = slog.NewJSONHandler(std.err, nil)
			}
			options.Log = slog.New(handler)
			if !quiet {
				options.Access = options.Log
			}
			options.Version = thisVersion().Version
			options.OneHost = onlyHere
			options.Open = func(ctx context.Context) (store.Store, error) { return where.openToWrite(ctx) }
			s, err := server.New(&options)
			if err != nil {
				return usageError{err}
			}
			var config net.ListenConfig
			l, err := config.Listen(cmd.Context(), "tcp", listen)
			if errors.Is(err, syscall.EADDRINUSE) {
				return fmt.Errorf("listen on %s: %w; end the program that uses it, or choose another port with --listen", listen, err)
			}
			if err != nil {
				return fmt.Errorf("listen on %s: %w", listen, err)
			}
			// A second signal has its default effect.
			defer context.AfterFunc(cmd.Context(), func() { signal.Reset(os.Interrupt, syscall.SIGTERM) })()
			err = s.Serve(cmd.Context(), &announced{Listener: l, announce: func() { std.warn("serving on http://%s", l.Addr()) }})
			if errors.Is(err, server.ErrToken) {
				return usagef("%w; give --token-file", err)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:8024", "`ADDRESS` to listen on; port 0 takes a free one")
	f.StringVar(&tokenFile, "token-file", "", "`FILE` with the token that clients must send")
	f.StringVar(&options.Addr, "address", "", "`IP:PORT` of this server in the registry (default that of --listen)")
	f.BoolVarP(&quiet, "quiet", "q", false, "log no requests")
	asJSON.addFlag(cmd, "write the log as JSON")
	f.DurationVar(&options.Grace, "grace", 30*time.Second, "how long to wait for requests in flight at the end")
	f.DurationVar(&options.Drain, "drain", time.Second, "how long to go on serving at the end while /readyz fails")
	where.addFlag(cmd)
	return cmd
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

// readToken reads the token from a file that only its owner may read.
func readToken(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 && info.Mode()&fs.ModeType == 0 && os.PathSeparator == '/' {
		return "", fmt.Errorf("read the token: %s can be read by others; chmod 600 it", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := string(bytes.TrimSpace(data))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("read the token: %s must hold one word", path)
	}
	return token, nil
}
