package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

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

// agency are the flags of oid agent.
type agency struct {
	where     storeFlag
	server    string
	tokenFile string
	listen    string
	unix      unixFlags
	options   agent.Options
	asJSON    jsonFlag

	store store.Store // or nil
}

const agentHelp = `Record the processes of this host, in any language, so that their ids are traced to
them. A host needs one agent. A program connects to its Unix socket, writes one line
with an id that its own driver has created, and keeps the connection open:

  oid1 ID [name=NAME] [version=VERSION] [addr=IP:PORT] [layout=LAYOUT]

Values are percent-encoded where they have spaces. The answer is one line:

  ok MEMBER GPID  the process is recorded; MEMBER is its member key, or - if the store or
                  the server is away: the process is recorded later
  error TEXT      what was wrong with the line

A line with an id of another process value adds it to the process: one for each
client of a driver. After a fork the child connects itself. An id that the process
cannot have created is refused; see oid adopt for what an id shows.

The kernel shows the agent which process connects and when it ends, also after
kill -9, and from within containers if the agent runs in the PID namespace of the
host. A program cannot say anything about another process. The agent reads the load
of each process from /proc and sends its heartbeats.

While the store or the server is away, the agent keeps registrations, heartbeats and
ends, with their times: the latest 100,000 heartbeats. The file of --state holds the
processes, so that an agent that is started again continues with those that run;
they need not connect again. A process that ended meanwhile is dead without a
recorded end, as nobody saw when. Started by systemd, the agent takes the socket that
it is passed, at which programs can connect while it is started again.

Everyone may connect, unless --mode and --group restrict it. A program can claim only
for itself, but a wrong claim makes the ids of another process ambiguous.

The agent needs Linux 5.3 or later, and two open files for each process (ulimit -n).

The agent records processes in a store or, with --server, through "oid serve".`

func newAgentCommand(std streams) *cobra.Command {
	var a agency
	cmd := &cobra.Command{
		Use:        "agent",
		SuggestFor: []string{"daemon", "sidecar"},
		Short:      "Record the processes of this host that connect to a socket",
		Long:       agentHelp,
		Example: `  oid agent --store postgres://db/oid
  oid agent --server https://oid.example.org --token-file /etc/oid.token
  oid agent --listen /run/oid/agent.sock --mode 0660 --group app
  python3 -c 'import bson, socket, time
  s = socket.socket(socket.AF_UNIX); s.connect("/run/oid/agent.sock")
  s.sendall(b"oid1 %s name=shop\n" % str(bson.ObjectId()).encode()); print(s.recv(200)); time.sleep(60)'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.run(cmd, std) },
	}
	a.where.addFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&a.listen, "listen", "", "`PATH` of the socket (default /run/oid/agent.sock for root, otherwise $XDG_RUNTIME_DIR/oid-agent.sock)")
	a.unix.add(f, "0666")
	f.StringVar(&a.options.State, "state", "", "`FILE` with the processes of the agent (default the path of the socket and .state)")
	f.StringVar(&a.server, "server", "", "`URL` of an \"oid serve\" that records the processes, instead of --store")
	f.StringVar(&a.tokenFile, "token-file", "", "`FILE` with the token of the server")
	f.DurationVar(&a.options.Interval, "interval", 10*time.Second, "the `TIME` between two heartbeats of a process")
	a.asJSON.addFlag(cmd, "write the log as JSON")
	return cmd
}

// run is the agent until the command is interrupted.
func (a *agency) run(cmd *cobra.Command, std streams) (err error) {
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
	a.options.State = cmp.Or(a.options.State, l.Addr().String()+".state")
	std.warn("the agent listens on %s", l.Addr())
	notify(ctx)
	return agent.Serve(ctx, l, &a.options)
}

// check completes the options from the flags. Its errors are usage errors.
func (a *agency) check(cmd *cobra.Command) error {
	if a.listen == "" {
		if a.listen = "/run/oid/agent.sock"; os.Getuid() != 0 {
			a.listen = filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "oid-agent.sock")
		}
		if !filepath.IsAbs(a.listen) {
			a.listen = "" // which matters unless systemd passes a socket
		}
	}
	if err := a.unix.check(); err != nil {
		return err
	}
	if i := a.options.Interval; i < time.Second || i > time.Hour {
		return usagef("--interval %v: want 1s to 1h", i)
	}
	if a.server == "" {
		if a.tokenFile != "" {
			return usagef("--token-file is for --server")
		}
		a.options.Open = a.openStore
		_, err := a.where.engine()
		return err
	}
	if cmd.Flags().Changed("store") {
		return usagef("--server and --store exclude each other")
	}
	if u, err := url.Parse(a.server); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return usagef("--server: want http://HOST:PORT or https://HOST")
	}
	c := &client.Client{URL: a.server, Retries: -1}
	if a.tokenFile != "" {
		tokens, err := readTokens(a.tokenFile)
		if err != nil {
			return err
		}
		c.Token = tokens[0].Value
	}
	a.options.Open = func(context.Context) (agent.Sink, error) { return toServer{c}, nil }
	return nil
}

// openStore opens the registry in the store.
func (a *agency) openStore(ctx context.Context) (_ agent.Sink, err error) {
	if a.store, err = a.where.openToWrite(ctx); err != nil {
		return nil, err
	}
	return agent.ToRegistry(a.where.registry(a.store)), nil
}

// socket returns the socket that systemd passes, or creates one. chosen means that the
// flag --listen names one.
func (a *agency) socket(ctx context.Context, chosen bool) (*net.UnixListener, error) {
	a.unix.makeFolder = true
	l, err := listen(ctx, "unix:"+a.listen, chosen, &a.unix)
	if err != nil {
		return nil, err
	}
	u, ok := l.(*net.UnixListener)
	if !ok {
		return nil, errors.Join(errors.New("systemd passes a socket that is not a Unix one; want ListenStream=PATH"), l.Close())
	}
	return u, nil
}

// toServer is the sink of an agent that sends processes to a server.
type toServer struct{ client *client.Client }

// oldest is the highest age that a server takes.
const oldest = 7 * 24 * time.Hour

// Register is [agent.Sink.Register].
func (t toServer) Register(ctx context.Context, g gpid.GPID, samples []objectid.ID, layout objectid.Layout, o *registry.RemoteOptions) (registry.MemberKey, error) {
	o = new(*o)
	o.Age = min(o.Age, oldest)
	got, err := t.client.Register(ctx, towire.Registration(g, samples, layout, o))
	if err != nil {
		return "", serverError(err)
	}
	if len(got.Rivals) > 0 {
		err = fmt.Errorf("another live process is recorded with the same process value: %s", got.Rivals[0])
	}
	return registry.MemberKey(got.Member), err
}

// AddEvidence is [agent.Sink.AddEvidence].
func (t toServer) AddEvidence(ctx context.Context, member registry.MemberKey, samples []objectid.ID, layout objectid.Layout) error {
	_, err := t.client.AddEvidence(ctx, string(member), layout.String(), samples...)
	return serverError(err)
}

// Heartbeats is [agent.Sink.Heartbeats].
func (t toServer) Heartbeats(ctx context.Context, beats []registry.RemoteHeartbeat) []error {
	all := make([]wire.HeartbeatOf, len(beats))
	errs := make([]error, len(beats))
	for i, b := range beats {
		all[i] = wire.HeartbeatOf{Member: string(b.Member), Heartbeat: wire.Heartbeat{
			Load: towire.Load(b.Load), Clock: b.Clock,
		}, AgeSeconds: min(b.Age, oldest).Seconds()}
	}
	got, err := t.client.Heartbeats(ctx, all)
	problems := map[string]error{}
	for _, p := range got.Problems {
		if len(p.Rivals) == 0 {
			problems[p.Member] = serverError(&client.Error{Status: p.Status, Detail: p.Detail})
		}
	}
	for i, b := range all {
		if errs[i] = problems[b.Member]; err != nil { // which says nothing of one of them
			errs[i] = err
		}
	}
	return errs
}

// End is [agent.Sink.End].
func (t toServer) End(ctx context.Context, member registry.MemberKey, reason string, age time.Duration) error {
	return serverError(t.client.End(ctx, string(member), reason, min(age, oldest)))
}

// serverError returns an error of the server as one of a sink.
func serverError(err error) error {
	problem, ok := errors.AsType[*client.Error](err)
	if !ok {
		return err
	}
	switch problem.Status {
	case http.StatusNotFound, http.StatusConflict:
		return fmt.Errorf("%w: %w", agent.ErrForgotten, err)
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: %w", agent.ErrRefused, err)
	}
	return err
}
