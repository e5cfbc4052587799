package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/agent"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/client"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/store"
)

// agentCommand has the flags of oid agent.
type agentCommand struct {
	where     storeFlag
	server    string
	tokenFile string
	listen    string
	metrics   string
	unix      unixFlags
	options   agent.Options
	asJSON    jsonFlag

	store store.Store // nil until it is opened
}

const agentHelp = `Record the processes of this host, so that the ids that they create can be traced to
them. Run one agent per host. It serves programs in any language.

A program connects to the Unix socket of the agent, writes one line with an id that
its own driver has created, and keeps the connection open:

  oid1 ID [name=NAME] [version=VERSION] [addr=IP:PORT] [layout=LAYOUT]

Spaces in values are percent-encoded. The agent answers with one line:

  ok MEMBER GPID  the process is recorded. MEMBER is its member key, or - if the store
                  or the server does not answer; the agent then records the process
                  later. GPID is its identity, ip:port:start_time:pid.
  error TEXT      what was wrong with the line

A driver creates ids with one process value per client. A program with several
clients writes a line for each, with an id of that client. After a fork, the child
process must open a connection of its own. The agent refuses an id that the process
cannot have created; "oid adopt --help" says which ids are refused.

The kernel tells the agent which process has connected and when that process ends,
even after kill -9. So a program can record only itself. This also works for
containers if the agent runs in the PID namespace of the host. The agent reads the
load of each process from /proc and sends its heartbeats.

If the store or the server does not answer, the agent keeps registrations, ends and
the latest 100,000 heartbeats, and records them later with their original times.

The file of --state lists the processes of the agent. An agent that is started again
continues with the processes that still run; they need not connect again. Processes
that have ended meanwhile count as dead. They have no recorded end, because nobody
knows when they ended. If systemd starts the agent and passes a socket, the agent uses
that socket. Then programs can connect even while the agent is restarted.

By default every user of this host may connect; --mode and --group restrict that. A
program that sends an id of another process makes the ids of that process ambiguous.

The agent needs Linux 5.3 or later, and two open files for each process (ulimit -n).
It records processes in a store or, with --server, through "oid serve".`

// defaultSocket is the socket of an agent that root runs.
const defaultSocket = "/run/oid/agent.sock"

func newAgentCommand(std streams) *cobra.Command {
	var a agentCommand
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Record the processes of this host that connect to a socket",
		Long:  agentHelp,
		Example: `  oid agent --store postgres://db/oid
  oid agent --server https://oid.example.org --token-file /etc/oid.token
  oid agent --listen /run/oid/agent.sock --mode 0660 --group app --metrics 127.0.0.1:9124`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.run(cmd, std) },
	}
	a.where.addFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&a.listen, "listen", "", "`PATH` of the socket, or unix:PATH (default /run/oid/agent.sock for root, otherwise $XDG_RUNTIME_DIR/oid-agent.sock)")
	a.unix.add(f, "0666")
	f.StringVar(&a.options.State, "state", "", "`FILE` that lists the processes of the agent (default the path of the socket with .state appended)")
	f.StringVar(&a.metrics, "metrics", "", "`ADDRESS` at which to serve /metrics for Prometheus, IP:PORT or unix:PATH (default none)")
	f.StringVar(&a.server, "server", "", "`URL` of an \"oid serve\" in which to record processes, instead of --store")
	f.StringVar(&a.tokenFile, "token-file", "", "`FILE` with the token for --server")
	f.DurationVar(&a.options.Interval, "interval", 10*time.Second, "`TIME` between two heartbeats of a process")
	a.asJSON.addFlag(cmd, "write the log as JSON")
	return cmd
}

// run runs the agent until the command is interrupted.
func (a *agentCommand) run(cmd *cobra.Command, std streams) (err error) {
	ctx := cmd.Context()
	if err := a.check(cmd); err != nil {
		return err
	}
	a.options.Log = newLog(std, a.asJSON)
	defer func() {
		if a.store != nil {
			err = errors.Join(err, a.store.Close())
		}
	}()
	l, err := a.socket(ctx, cmd.Flags().Changed("listen"))
	if err != nil {
		return err
	}
	a.options.State, err = absolute("--state", cmp.Or(a.options.State, l.Addr().String()+".state"), defaultSocket+".state")
	if err == nil && a.metrics != "" {
		err = a.serveMetrics(ctx, std)
	}
	if err != nil {
		return errors.Join(err, l.Close())
	}
	std.warn("the agent listens on %s", l.Addr())
	notify(ctx)
	return agent.Serve(ctx, l, &a.options)
}

// check checks the flags and sets the options of the agent from them.
func (a *agentCommand) check(cmd *cobra.Command) error {
	if runtime.GOOS != "linux" {
		return errors.New("the agent needs Linux; on other systems a program records itself over HTTP, see docs/how-to/adopt.md")
	}
	err := a.unix.check()
	if err == nil && a.metrics != "" {
		err = checkAddress(cmd.Context(), "--metrics", &a.metrics)
	}
	switch folder := os.Getenv("XDG_RUNTIME_DIR"); {
	case err != nil:
		return err
	case a.listen != "":
		if a.listen, err = absolute("--listen", strings.TrimPrefix(a.listen, "unix:"), defaultSocket); err != nil {
			return err
		}
	case os.Getuid() == 0:
		a.listen = defaultSocket
	case filepath.IsAbs(folder): // otherwise an error later, unless systemd passes a socket
		a.listen = filepath.Join(folder, "oid-agent.sock")
	}
	if i := a.options.Interval; i < time.Second || i > time.Hour {
		return usagef("--interval %v: want 1s to 1h", i)
	}
	if a.server == "" {
		if a.tokenFile != "" {
			return usagef("--token-file needs --server")
		}
		a.options.Open = a.openStore
		_, err := a.where.engine()
		return err
	}
	if cmd.Flags().Changed("store") {
		return usagef("--server and --store exclude each other: give one of them")
	}
	if u, err := url.Parse(a.server); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return usagef("--server: want http://HOST:PORT or https://HOST")
	}
	sink := toServer{client.Client{URL: a.server, Retries: -1}, a.tokenFile}
	if a.tokenFile != "" {
		tokens, err := readTokens(a.tokenFile)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w; write a token of the server to this file", err)
		}
		if err != nil {
			return err
		}
		sink.client.Token = tokens[0].Value // if the file cannot be read later
	}
	a.options.Open = func(context.Context) (agent.Sink, error) { return sink, nil }
	return nil
}

// serveMetrics serves the metrics of the agent at the address of --metrics until ctx is done.
func (a *agentCommand) serveMetrics(ctx context.Context, std streams) error {
	l, err := listen(ctx, a.metrics, true, &a.unix) // systemd's socket is taken already
	if err != nil {
		return err
	}
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	a.options.Metrics = r
	s := &http.Server{Handler: promhttp.HandlerFor(r, promhttp.HandlerOpts{MaxRequestsInFlight: 4}), ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { s.Close() })
	go func() { _ = s.Serve(l) }()
	std.warn("metrics are served on %s", urlOf(l.Addr(), false))
	return nil
}

// openStore opens the registry in the store.
func (a *agentCommand) openStore(ctx context.Context) (_ agent.Sink, err error) {
	if a.store, err = a.where.openToWrite(ctx); err != nil {
		return nil, err
	}
	return agent.ToRegistry(a.where.registry(a.store)), nil
}

// socket returns the socket that systemd passes, or creates one. chosen means that the
// flag --listen names one.
func (a *agentCommand) socket(ctx context.Context, chosen bool) (*net.UnixListener, error) {
	l, err := listen(ctx, "unix:"+a.listen, chosen, &a.unix)
	if err != nil {
		return nil, err
	}
	if a.unix.created {
		a.options.Listen = func() (net.Listener, error) { return a.unix.listen(ctx, a.listen) }
	}
	u, ok := l.(*net.UnixListener)
	if !ok {
		return nil, errors.Join(errors.New("systemd passes a socket that is not a Unix socket; want ListenStream=PATH"), l.Close())
	}
	return u, nil
}

// toServer is the sink of an agent that sends processes to a server.
type toServer struct {
	client    client.Client
	tokenFile string // empty if there is no token
}

// api returns a client with the token that the file has now: tokens are replaced.
func (t toServer) api() *client.Client {
	if tokens, err := readTokens(t.tokenFile); err == nil {
		t.client.Token = tokens[0].Value
	}
	return &t.client
}

const (
	oldest  = 7 * 24 * time.Hour // the highest age that a server accepts
	largest = 1<<20 - 1<<10      // bytes of heartbeats in a request: a server, and many proxies, accept 1 MiB
)

// Register implements [agent.Sink].
func (t toServer) Register(ctx context.Context, g gpid.GPID, evidence []objectid.ID, layout objectid.Layout, o *registry.RemoteOptions) (registry.MemberKey, error) {
	o = new(*o)
	o.Age = min(o.Age, oldest)
	got, err := t.api().Register(ctx, towire.Registration(g, evidence, layout, o))
	if err != nil {
		return "", serverError(err)
	}
	if len(got.Rivals) > 0 {
		err = fmt.Errorf("another live process is recorded with the same process value: %s", got.Rivals[0])
	}
	return registry.MemberKey(got.Member), err
}

// AddEvidence implements [agent.Sink].
func (t toServer) AddEvidence(ctx context.Context, member registry.MemberKey, evidence []objectid.ID, layout objectid.Layout) error {
	_, err := t.api().AddEvidence(ctx, string(member), layout.String(), evidence...)
	return serverError(err)
}

// Heartbeats implements [agent.Sink].
func (t toServer) Heartbeats(ctx context.Context, beats []registry.RemoteHeartbeat) []error {
	all := make([]wire.HeartbeatOf, len(beats))
	errs := make([]error, len(beats))
	for i, b := range beats {
		all[i] = wire.HeartbeatOf{Member: string(b.Member), Heartbeat: wire.Heartbeat{
			Load: towire.Load(b.Load), Clock: b.Clock, Description: (*wire.Description)(b.Description),
		}, AgeSeconds: min(b.Age, oldest).Seconds()}
	}
	if text, _ := json.Marshal(all); len(text) > largest && len(beats) > 1 { // descriptions, mostly
		half := len(beats) / 2
		return append(t.Heartbeats(ctx, beats[:half]), t.Heartbeats(ctx, beats[half:])...)
	}
	got, err := t.api().Heartbeats(ctx, all)
	problems := map[string]error{}
	for _, p := range got.Problems {
		if len(p.Rivals) == 0 {
			problems[p.Member] = serverError(&client.Error{Status: p.Status, Detail: p.Detail})
		}
	}
	for i, b := range all {
		if errs[i] = problems[b.Member]; err != nil { // the whole request has failed
			errs[i] = err
		}
	}
	return errs
}

// End implements [agent.Sink].
func (t toServer) End(ctx context.Context, member registry.MemberKey, reason string, age time.Duration) error {
	return serverError(t.api().End(ctx, string(member), reason, min(age, oldest)))
}

// serverError returns an error of the server as an error of an [agent.Sink]. The agent repeats
// a call that was refused for another reason than its values: an operator can mend that.
func serverError(err error) error {
	problem, ok := errors.AsType[*client.Error](err)
	switch {
	case !ok:
	case problem.Gone():
		return fmt.Errorf("%w: %w", agent.ErrForgotten, err)
	case problem.Status == http.StatusBadRequest, problem.Status == http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: %w", agent.ErrRefused, err)
	}
	return err
}
