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
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/oidkit/oid/server"
)

// serving has the flags of oid serve.
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

const serveHelp = `Serve a web page, and an HTTP API for programs in any language. The server creates ids in
bulk, shows when and by which process an id was created, turns time ranges into ranges of
ids, records processes, and takes the census of a dump.

By default the server listens on a loopback address, so only programs of this host
can connect. If it listens on another address or is behind a proxy, it needs
--token-file. The file has a single token, or several lines of this form:

  NAME all|read TOKEN

A token must have at least 128 random bits; "openssl rand -hex 16" prints one. A "read"
token neither creates ids nor changes the registry. Programs send the header
"Authorization: Bearer TOKEN". On the web page, users log in with a token.

If the server is behind a proxy, --base-url is the URL that clients use, and
--trusted-proxy names the proxies whose header X-Forwarded-For the server trusts. If
systemd starts the server and passes a socket, the server uses that socket, and reports
to systemd when it is ready. See docs/deploy.md.

The server logs to standard error. After an interrupt it ends in three steps. It first
keeps serving for --drain, while /readyz fails. Then it waits for requests in flight, for
up to --grace, and aborts uploads after half of --grace. Last, it records its end in the
registry. A second interrupt ends the server at once.`

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
	f.StringVar(&v.address, "listen", "127.0.0.1:8024", "`ADDRESS` to listen on, or unix:PATH; with port 0 the system chooses a free port")
	v.unix.add(f, "0660")
	f.StringVar(&v.tokenFile, "token-file", "", "`FILE` with the tokens; a client must send one of them")
	f.DurationVar(&v.options.Session, "session", 12*time.Hour, "how long a login on the page lasts")
	f.StringVar(&v.options.BaseURL, "base-url", "", "`URL` at which clients reach the server through a proxy")
	f.StringSliceVar(&v.trusted, "trusted-proxy", nil, "`CIDR` of proxies whose header X-Forwarded-For the server trusts; may be repeated")
	f.StringVar(&v.certFile, "tls-cert", "", "`FILE` with the certificate, to serve over TLS; it is read again when it changes")
	f.StringVar(&v.keyFile, "tls-key", "", "`FILE` with the key of the certificate")
	f.StringVar(&v.options.Addr, "address", "", "`IP:PORT` that the registry records for this server (default that of --listen)")
	f.BoolVarP(&v.quiet, "quiet", "q", false, "do not log requests")
	v.asJSON.addFlag(cmd, "write the log as JSON")
	f.DurationVar(&v.options.Grace, "grace", 30*time.Second, "after --drain, how long to wait for requests in flight")
	f.DurationVar(&v.options.Drain, "drain", time.Second, "after an interrupt, how long to keep serving while /readyz fails")
	addLimits(f, &v.options.Limits)
	v.where.addFlag(cmd)
	v.held.addFlag(cmd)
	addLinks(cmd, &v.options.Links)
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
	// A second signal then has its default effect, which ends the program.
	defer context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt, syscall.SIGTERM) })()
	err = s.Serve(ctx, l)
	if errors.Is(err, server.ErrToken) {
		return usagef("%w; make one with \"(umask 077; openssl rand -hex 16 > FILE)\" and give --token-file FILE, or listen on 127.0.0.1", err)
	}
	return err
}

// complete checks the flags and sets the options of the server from them.
func (v *serving) complete(cmd *cobra.Command, std streams) error {
	engine, err := v.where.engine()
	if err != nil {
		return err
	}
	if err := errors.Join(checkAddress(cmd.Context(), "--listen", &v.address), v.unix.check()); err != nil {
		return err
	}
	if f := cmd.Flags(); !strings.HasPrefix(v.address, "unix:") && (f.Changed("mode") || f.Changed("group")) {
		return usagef("--mode and --group need --listen unix:PATH")
	}
	o := &v.options
	if v.tokenFile != "" {
		o.Tokens, err = readTokens(v.tokenFile)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w; make one with \"(umask 077; openssl rand -hex 16 > %s)\"", err, v.tokenFile)
		}
		if err != nil {
			return err
		}
	}
	o.Log = newLog(std, v.asJSON)
	if !v.quiet {
		o.Access = o.Log
	}
	o.Version = thisVersion()
	o.OneHost = engine.oneHost
	o.StoreName = engine.name
	o.Open = v.where.openToWrite
	if o.OpenLocks, err = v.held.opener(std); err != nil {
		return err
	}
	if o.TLS, err = serverTLS(v.certFile, v.keyFile, func(err error) {
		o.Log.Warn("the certificate cannot be read; the server keeps the one that it has", "error", err)
	}); err != nil {
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
				return nil, usagef("--trusted-proxy %q: want an IP address or a network such as 10.0.0.0/8", text)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// addLimits adds flags for the limits that operators change most. Their defaults are in v.
func addLimits(f *pflag.FlagSet, v *server.Limits) {
	v.PerAddress = 0 // depends on Connections
	f.IntVar(&v.Connections, "max-connections", v.Connections, "maximum open connections; for a further one, the server closes the one that has waited longest for its client to send or read")
	f.IntVar(&v.PerAddress, "max-connections-per-address", 0, "maximum open connections from one client address (default a quarter of --max-connections)")
	f.IntVar(&v.Requests, "max-requests", v.Requests, "maximum requests that the server works on at once; a further request waits for up to five seconds")
	f.Var(sizeFlag{&v.Memory, 1}, "max-memory", "maximum memory that all requests and uploads together may take")
	f.Var(sizeFlag{&v.Body, 1}, "max-body", "maximum size of a request body that is not an upload")
	f.IntVar(&v.Uploads, "max-uploads", v.Uploads, "maximum uploads at once")
	f.Var(sizeFlag{&v.Upload, 1}, "max-upload", "maximum size of an upload, as sent")
	f.Var(sizeFlag{&v.Unpacked, 1}, "max-unpacked", "maximum size of an upload after unpacking")
}

// sizeFlag is a flag for a number of bytes, such as 64MiB. A value must be least or more. If
// the number is 0, the flag has no default.
type sizeFlag struct {
	bytes *int64
	least uint64
}

// String implements pflag.Value.
func (s sizeFlag) String() string {
	if s.bytes == nil || *s.bytes == 0 {
		return ""
	}
	return strings.ReplaceAll(humanize.IBytes(uint64(*s.bytes)), " ", "")
}

// Set implements pflag.Value.
func (s sizeFlag) Set(text string) error {
	n, err := humanize.ParseBytes(text)
	if err != nil || n < s.least || n > 1<<50 {
		return fmt.Errorf("want a size of %s or more, such as 2GiB", humanize.IBytes(s.least))
	}
	*s.bytes = int64(n)
	return nil
}

// Type implements pflag.Value.
func (sizeFlag) Type() string { return "SIZE" }

// othersMay returns the permission bits that a secret file must not have: those of its group
// and of others. In the folder of credentials that systemd makes for a service, the group
// may read, because the access control list for the service's user shows as this bit.
func othersMay(path string) fs.FileMode {
	folder := os.Getenv("CREDENTIALS_DIRECTORY")
	if folder != "" && filepath.Dir(path) == filepath.Clean(folder) {
		return 0o037
	}
	return 0o077
}

// readSecret reads a text file that only its owner may read. It converts a text with a byte
// order mark to UTF-8, because Windows PowerShell writes UTF-16.
func readSecret(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&othersMay(path) != 0 && info.Mode()&fs.ModeType == 0 && os.PathSeparator == '/' {
		return nil, fmt.Errorf("%s can be read by other users; run: chmod 600 %s", path, path)
	}
	data, err := os.ReadFile(path)
	if err == nil {
		data, _, err = transform.Bytes(unicode.BOMOverride(transform.Nop), data)
	}
	return data, err
}

// readTokens reads the tokens from a file that only its owner may read. The file has one
// token, or a line "NAME all|read TOKEN" for each.
func readTokens(path string) ([]server.Token, error) {
	data, err := readSecret(path)
	if err != nil {
		return nil, fmt.Errorf("read the token: %w", err)
	}
	var all []server.Token
	for i, line := range strings.Split(string(data), "\n") {
		words, position := strings.Fields(line), fmt.Sprintf("in %s, line %d", path, i+1)
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "#"):
		case len(words) == 1:
			all = append(all, server.Token{Name: "token", Value: words[0], Position: position})
		case len(words) == 3 && (words[1] == "all" || words[1] == "read"):
			all = append(all, server.Token{Name: words[0], Value: words[2], ReadOnly: words[1] == "read", Position: position})
		default: // without the line, which may hold a token
			return nil, fmt.Errorf("token %s: want a token, or NAME all|read TOKEN; make a token with \"openssl rand -hex 16\"", position)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no token; make one with \"openssl rand -hex 16\"", path)
	}
	return all, nil
}
