package main

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/store"
)

func newServeCommand(std streams) *cobra.Command {
	var (
		where     storeFlag
		held      locksFlag
		options   server.Options
		address   string
		tokenFile string
		trusted   []string
		certFile  string
		keyFile   string
		limits    = newLimitFlags()
		unix      unixFlags
		quiet     bool
		asJSON    jsonFlag
	)
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the web page and the HTTP API",
		Long: `Serve a page for people and an HTTP API for programs in other languages: ids in
bulk, creation times and processes of ids, ranges, and the census of a dump.

On a loopback address, the default, only this machine can connect. Any other
address, and a proxy before the server, needs --token-file. The file holds a token of
at least 16 characters, or a line for each of several:

  NAME all|read TOKEN

"read" permits looking, but neither new ids nor changes to the registry. Programs send
a token as "Authorization: Bearer TOKEN", people log in with it.

Behind a proxy, --base-url names the URL that clients use, and --trusted-proxy the
proxies whose X-Forwarded-For is believed. Started by systemd, the server takes the
socket that it is passed and reports that it is ready. See docs/deploy.md.

The log goes to standard error. After an interrupt /readyz fails, the server goes on
for --drain, then waits up to --grace for requests in flight, half of that for
uploads, and records its end in the registry. A second interrupt ends it at once.

` + storeHelp,
		Example: `  oid serve
  oid serve --listen 127.0.0.1:0 --store sqlite:/var/lib/oid.db
  oid serve --listen unix:/run/oid/http.sock --group www-data --token-file /etc/oid.token --base-url https://host/oid/
  oid serve --listen 0.0.0.0:8024 --token-file /etc/oid.token --store mongodb://db/oid
  curl 127.0.0.1:8024/v1/ids -H 'Accept: text/plain' -H 'Content-Type: application/json' -d '{"count": 3}'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			engine, err := where.engine()
			if err != nil {
				return err
			}
			if err := errors.Join(checkAddress(cmd.Context(), address), unix.check()); err != nil {
				return err
			}
			if f := cmd.Flags(); !strings.HasPrefix(address, "unix:") && (f.Changed("mode") || f.Changed("group")) {
				return usagef("--mode and --group are for --listen unix:PATH")
			}
			if tokenFile != "" {
				if options.Tokens, err = readTokens(tokenFile); err != nil {
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
			options.OneHost = func(store.Store) bool { return engine.oneHost }
			options.StoreName = engine.name
			options.Open = func(ctx context.Context) (store.Store, error) { return where.openToWrite(ctx) }
			if options.OpenLocks, err = held.opener(cmd, std); err != nil {
				return err
			}
			if options.TLS, err = serverTLS(certFile, keyFile, func(err error) { options.Log.Warn("the certificate stays as it was", "error", err) }); err != nil {
				return err
			}
			if options.TrustedProxies, err = proxies(trusted); err != nil {
				return err
			}
			options.Limits = limits.values
			s, err := server.New(&options)
			if err != nil {
				return usageError{err}
			}
			l, err := listen(cmd.Context(), address, cmd.Flags().Changed("listen"), &unix)
			if err != nil {
				return err
			}
			// A second signal has its default effect.
			defer context.AfterFunc(cmd.Context(), func() { signal.Reset(os.Interrupt, syscall.SIGTERM) })()
			a := &announced{Listener: l}
			a.announce = func() {
				std.warn("serving on %s", a.where(options.TLS != nil))
				notify(cmd.Context())
			}
			err = s.Serve(cmd.Context(), a)
			if errors.Is(err, server.ErrToken) {
				return usagef("%w; give --token-file", err)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&address, "listen", "127.0.0.1:8024", "`ADDRESS` to listen on, or unix:PATH; port 0 takes a free one")
	unix.add(f, "0660")
	f.StringVar(&tokenFile, "token-file", "", "`FILE` with the tokens that clients must send")
	f.DurationVar(&options.Session, "session", 12*time.Hour, "how long a login of the page lasts")
	f.StringVar(&options.BaseURL, "base-url", "", "`URL` by which clients reach the server through a proxy")
	f.StringSliceVar(&trusted, "trusted-proxy", nil, "`CIDR` of proxies whose X-Forwarded-For is believed; may be repeated")
	f.StringVar(&certFile, "tls-cert", "", "`FILE` with the certificate, to serve over TLS; it is read again when it changes")
	f.StringVar(&keyFile, "tls-key", "", "`FILE` with the key of the certificate")
	f.StringVar(&options.Addr, "address", "", "`IP:PORT` of this server in the registry (default that of --listen)")
	f.BoolVarP(&quiet, "quiet", "q", false, "log no requests")
	asJSON.addFlag(cmd, "write the log as JSON")
	f.DurationVar(&options.Grace, "grace", 30*time.Second, "how long to wait for requests in flight at the end")
	f.DurationVar(&options.Drain, "drain", time.Second, "how long to go on serving at the end while /readyz fails")
	limits.add(f)
	where.addFlag(cmd)
	held.addFlag(cmd)
	return cmd
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
