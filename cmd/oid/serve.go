package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oidkit/oid/server"
)

// serving are the flags of oid serve.
type serving struct {
	where     storeFlag
	held      locksFlag
	options   server.Options
	address   string
	tokenFile string
	trusted   []string
	certFile  string
	keyFile   string
	unix      unixFlags
	quiet     bool
	asJSON    jsonFlag
}

const serveHelp = `Serve a page for people and an HTTP API for programs in other languages: ids in
bulk, creation times and processes of ids, ranges, and the census of a dump.

On a loopback address, the default, only this machine can connect. Any other
address, and a proxy before the server, needs --token-file. The file holds a token, or
a line for each of several:

  NAME all|read TOKEN

"openssl rand -hex 16" makes a token; the server refuses one of less than 128 bits.

"read" permits looking, but neither new ids nor changes to the registry. Programs send
a token as "Authorization: Bearer TOKEN", people log in with it.

Behind a proxy, --base-url names the URL that clients use, and --trusted-proxy the
proxies whose X-Forwarded-For is believed. Started by systemd, the server takes the
socket that it is passed and reports that it is ready. See docs/deploy.md.

The log goes to standard error. After an interrupt /readyz fails, the server goes on
for --drain, then waits up to --grace for requests in flight, half of that for
uploads, and records its end in the registry. A second interrupt ends it at once.`

func newServeCommand(std streams) *cobra.Command {
	v := serving{where: storeFlag{trial: true}, options: server.Options{Limits: server.DefaultLimits()}}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the web page and the HTTP API",
		Long:  serveHelp,
		Example: `  oid serve
  oid serve --store memory:
  oid serve --listen 127.0.0.1:0 --store sqlite:/var/lib/oid.db
  oid serve --listen unix:/run/oid/http.sock --group www-data --token-file /etc/oid.token --base-url https://host/oid/
  oid serve --listen 0.0.0.0:8024 --token-file /etc/oid.token --store mongodb://db/oid
  curl 127.0.0.1:8024/v1/ids -H 'Accept: text/plain' -H 'Content-Type: application/json' -d '{"count": 3}'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return v.run(cmd, std) },
	}
	f := cmd.Flags()
	f.StringVar(&v.address, "listen", "127.0.0.1:8024", "`ADDRESS` to listen on, or unix:PATH; port 0 takes a free one")
	v.unix.add(f, "0660")
	f.StringVar(&v.tokenFile, "token-file", "", "`FILE` with the tokens that clients must send")
	f.DurationVar(&v.options.Session, "session", 12*time.Hour, "how long a login of the page lasts")
	f.StringVar(&v.options.BaseURL, "base-url", "", "`URL` by which clients reach the server through a proxy")
	f.StringSliceVar(&v.trusted, "trusted-proxy", nil, "`CIDR` of proxies whose X-Forwarded-For is believed; may be repeated")
	f.StringVar(&v.certFile, "tls-cert", "", "`FILE` with the certificate, to serve over TLS; it is read again when it changes")
	f.StringVar(&v.keyFile, "tls-key", "", "`FILE` with the key of the certificate")
	f.StringVar(&v.options.Addr, "address", "", "`IP:PORT` of this server in the registry (default that of --listen)")
	f.BoolVarP(&v.quiet, "quiet", "q", false, "log no requests")
	v.asJSON.addFlag(cmd, "write the log as JSON")
	f.DurationVar(&v.options.Grace, "grace", 30*time.Second, "how long to wait for requests in flight at the end")
	f.DurationVar(&v.options.Drain, "drain", time.Second, "how long to go on serving at the end while /readyz fails")
	addLimits(f, &v.options.Limits)
	v.where.addFlag(cmd)
	v.held.addFlag(cmd)
	return cmd
}

// run serves until the command is interrupted.
func (v *serving) run(cmd *cobra.Command, std streams) error {
	ctx := cmd.Context()
	if err := v.complete(cmd, std); err != nil {
		return err
	}
	var l net.Listener
	v.options.Serving = func() {
		std.warn("serving on %s", urlOf(l.Addr(), v.options.TLS != nil))
		notify(ctx)
	}
	s, err := server.New(&v.options)
	if err != nil {
		return usageError{err}
	}
	l, err = listen(ctx, v.address, cmd.Flags().Changed("listen"), &v.unix)
	if err != nil {
		return err
	}
	// A second signal has its default effect.
	defer context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt, syscall.SIGTERM) })()
	err = s.Serve(ctx, l)
	if errors.Is(err, server.ErrToken) {
		return usagef("%w; give --token-file FILE, or listen on 127.0.0.1", err)
	}
	return err
}

// complete checks the flags and completes the options of the server.
func (v *serving) complete(cmd *cobra.Command, std streams) error {
	engine, err := v.where.engine()
	if err != nil {
		return err
	}
	if err := errors.Join(checkAddress(cmd.Context(), v.address), v.unix.check()); err != nil {
		return err
	}
	if f := cmd.Flags(); !strings.HasPrefix(v.address, "unix:") && (f.Changed("mode") || f.Changed("group")) {
		return usagef("--mode and --group are for --listen unix:PATH")
	}
	o := &v.options
	if v.tokenFile != "" {
		if o.Tokens, err = readTokens(v.tokenFile); err != nil {
			return err
		}
	}
	o.Log = newLog(std, v.asJSON)
	if !v.quiet {
		o.Access = o.Log
	}
	o.Version = thisVersion().Version
	o.OneHost = engine.oneHost
	o.StoreName = engine.name
	o.Open = v.where.openToWrite
	if o.OpenLocks, err = v.held.opener(std); err != nil {
		return err
	}
	if o.TLS, err = serverTLS(v.certFile, v.keyFile, func(err error) { o.Log.Warn("the certificate stays as it was", "error", err) }); err != nil {
		return err
	}
	o.TrustedProxies, err = proxies(v.trusted)
	return err
}

// proxies reads the values of --trusted-proxy.
func proxies(all []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range all {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			a, err := netip.ParseAddr(text)
			if err != nil {
				return nil, usagef("--trusted-proxy %q: want an IP address, or several such as 10.0.0.0/8", text)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// addLimits adds the flags for some limits, with v as the defaults.
func addLimits(f *pflag.FlagSet, v *server.Limits) {
	v.PerAddress = 0 // depends on Connections
	f.IntVar(&v.Connections, "max-connections", v.Connections, "connections that may be open; beyond, the one that waits longest for its client is closed, or the new one")
	f.IntVar(&v.PerAddress, "max-connections-per-address", 0, "connections from one client address (default a quarter of --max-connections)")
	f.IntVar(&v.Requests, "max-requests", v.Requests, "requests worked on at the same time; more wait a moment")
	f.Var(sizeFlag{&v.Memory}, "max-memory", "memory that all requests and uploads together may take")
	f.Var(sizeFlag{&v.Body}, "max-body", "size of a request body that is not an upload")
	f.IntVar(&v.Uploads, "max-uploads", v.Uploads, "uploads at the same time")
	f.Var(sizeFlag{&v.Upload}, "max-upload", "size of an upload, as sent")
	f.Var(sizeFlag{&v.Unpacked}, "max-unpacked", "size of an upload after it was unpacked")
}

// sizeFlag is a flag for a number of bytes, such as 64MiB.
type sizeFlag struct{ bytes *int64 }

// String implements pflag.Value.
func (s sizeFlag) String() string {
	if s.bytes == nil {
		return ""
	}
	return strings.ReplaceAll(humanize.IBytes(uint64(*s.bytes)), " ", "")
}

// Set implements pflag.Value.
func (s sizeFlag) Set(text string) error {
	n, err := humanize.ParseBytes(text)
	if err != nil || n == 0 || n > 1<<50 {
		return fmt.Errorf("want a size such as 64MiB")
	}
	*s.bytes = int64(n)
	return nil
}

// Type implements pflag.Value.
func (sizeFlag) Type() string { return "SIZE" }

// othersMay returns the permissions that the file at path may not give: those of its group
// and of others. A credential that systemd has put into its folder for this service may be
// readable by its group: an access control list, which systemd sets for the service's user,
// shows as that.
func othersMay(path string) fs.FileMode {
	folder := os.Getenv("CREDENTIALS_DIRECTORY")
	if folder != "" && filepath.Dir(path) == filepath.Clean(folder) {
		return 0o037
	}
	return 0o077
}

// readSecret reads a file that only its owner may read.
func readSecret(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&othersMay(path) != 0 && info.Mode()&fs.ModeType == 0 && os.PathSeparator == '/' {
		return nil, fmt.Errorf("%s can be read by others; chmod 600 it", path)
	}
	return os.ReadFile(path)
}

// readTokens reads the tokens from a file that only its owner may read: a token alone,
// or a line "NAME all|read TOKEN" for each.
func readTokens(path string) ([]server.Token, error) {
	data, err := readSecret(path)
	if err != nil {
		return nil, fmt.Errorf("read the token: %w", err)
	}
	var all []server.Token
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "#"):
		case len(words) == 1:
			all = append(all, server.Token{Name: "token", Value: words[0]})
		case len(words) == 3 && (words[1] == "all" || words[1] == "read"):
			all = append(all, server.Token{Name: words[0], Value: words[2], ReadOnly: words[1] == "read"})
		default: // without the line, which may hold a token
			return nil, fmt.Errorf("read the token: %s: line %d must hold one word, the token, or three: a name, all or read, and the token", path, n)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("read the token: %s holds none", path)
	}
	return all, nil
}
