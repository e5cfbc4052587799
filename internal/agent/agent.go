// Package agent records the processes of a host in a registry, so that ids can be traced to
// them. One agent per host serves programs in any language.
//
// A program connects to the Unix socket of the agent, writes one [Line] with an id that its
// own driver has created, and keeps the connection open. The kernel tells the agent which
// process connected, also from other PID namespaces, and when the process ends. So a process
// can only speak for itself. The agent measures the load of the process, and passes its
// registration, heartbeats and end to a [Sink], such as a registry or a server.
//
// While the sink does not answer, the agent keeps everything that it could not pass on, and
// the times at which it happened. A file lists the processes, so that an agent that is
// started again continues with them.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// Options configure [Serve]. Open and State are required.
type Options struct {
	// Open returns the sink in which processes are recorded. The agent calls it until it
	// succeeds.
	Open func(ctx context.Context) (Sink, error)
	// State is the path of the file that lists the processes of the agent. After a reboot
	// of the host its content no longer matters.
	State string
	// Listen makes the socket of the agent again after its file was removed. If it is nil,
	// the agent logs that the file was removed.
	Listen func() (net.Listener, error)
	// Interval is the time between two heartbeats of a process. Default: 10s.
	Interval time.Duration
	// Metrics gets the metrics of the agent. Default: none.
	Metrics prometheus.Registerer
	// Log receives warnings for the operator. Default: slog.Default().
	Log *slog.Logger
}

// Sink records processes in a registry ([ToRegistry]) or on a server. Several goroutines
// call its methods at once.
//
// The methods return errors of package registry, and errors that wrap [ErrRefused] or
// [ErrForgotten]. A [registry.CollisionError] is a warning: the call was recorded. For any
// other error, the agent repeats the call later.
type Sink interface {
	// Register records a process with ids that it has created, and returns its member
	// key. Calls with the same o.Key return the same member. If Register returns both a
	// member and an error, the process is recorded and the error is a warning.
	Register(ctx context.Context, g gpid.GPID, evidence []objectid.ID, layout objectid.Layout, o *registry.RemoteOptions) (member registry.MemberKey, err error)
	// AddEvidence records further process values of a process, by ids that it has created
	// with them.
	AddEvidence(ctx context.Context, member registry.MemberKey, evidence []objectid.ID, layout objectid.Layout) error
	// Heartbeats records heartbeats, each of another process. The result has one element
	// for each, which is nil if the heartbeat was recorded.
	Heartbeats(ctx context.Context, beats []registry.RemoteHeartbeat) []error
	// End records that a process ended. age is how long ago it ended.
	End(ctx context.Context, member registry.MemberKey, reason string, age time.Duration) error
}

var (
	// ErrRefused is wrapped by errors of a [Sink] that will never accept the call. The
	// agent does not repeat it.
	ErrRefused = errors.New("agent: refused")
	// ErrForgotten is wrapped by errors of a [Sink] that has no such member, or for which
	// the member has ended. The agent registers the process again.
	ErrForgotten = errors.New("agent: the process is not recorded")
)

// ToRegistry returns the sink that records processes in r.
func ToRegistry(r *registry.Registry) Sink { return toRegistry{r} }

// toRegistry gets the method Heartbeats from the registry.
type toRegistry struct{ *registry.Registry }

// Register implements [Sink].
func (t toRegistry) Register(ctx context.Context, g gpid.GPID, evidence []objectid.ID, layout objectid.Layout, o *registry.RemoteOptions) (member registry.MemberKey, err error) {
	p, err := t.AdoptRemote(ctx, g, evidence, layout, o)
	if err == nil || errors.Is(err, registry.ErrCollision) {
		member = p.Key()
	}
	return member, err
}

// AddEvidence implements [Sink].
func (t toRegistry) AddEvidence(ctx context.Context, member registry.MemberKey, evidence []objectid.ID, layout objectid.Layout) error {
	_, err := t.Registry.AddEvidence(ctx, member, evidence, layout)
	return err
}

// End implements [Sink].
func (t toRegistry) End(ctx context.Context, member registry.MemberKey, reason string, age time.Duration) error {
	_, err := t.Registry.End(ctx, member, reason, age)
	return err
}

// sinkError sorts the errors of a sink. It wraps an error of the registry in [ErrRefused] or
// [ErrForgotten] if it means that, and returns nil for a collision, because the call was
// recorded.
func sinkError(err error) error {
	switch {
	case errors.Is(err, registry.ErrCollision):
		return nil
	case errors.Is(err, registry.ErrEvidence), errors.Is(err, registry.ErrDescription), errors.Is(err, gpid.ErrInvalid), errors.Is(err, registry.ErrSelfManaged):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	case errors.Is(err, store.ErrNotFound), errors.Is(err, registry.ErrEnded), errors.Is(err, registry.ErrKey):
		return fmt.Errorf("%w: %w", ErrForgotten, err)
	}
	return err
}

// Bounds of what a program may send. A registration over HTTP has the same bounds for names
// and versions.
const (
	maxLine = 1000 // bytes, including the newline
	maxText = 200  // bytes of a name or a version
)

// Version is the version of the line format. It is the first word of each line.
const Version = "oid1"

// Line is what a program tells the agent about itself.
type Line struct {
	// ID is an id that the program has created.
	ID objectid.ID
	// Layout is the layout of ID. Default: [objectid.Modern].
	Layout objectid.Layout
	// Name is the name of the service, Version the version of the program, and Addr the
	// ip:port at which peers reach it. Each is empty if the line has no such field.
	Name, Version, Addr string
}

// ParseLine parses a line without its newline. The line has the version of the format, an
// id, and fields of the form key=value in any order, each at most once. Values are
// percent-encoded. The agent sends the text of the error to the program.
func ParseLine(text string) (l Line, err error) {
	words := strings.Fields(text)
	switch {
	case !utf8.ValidString(text):
		return l, errors.New("the line is not UTF-8")
	case len(words) == 0 || words[0] != Version:
		return l, fmt.Errorf("the line begins with %.40q: want %q", strings.Join(words[:min(1, len(words))], ""), Version+" ID")
	case len(words) == 1:
		return l, fmt.Errorf("the id is missing: want %q", Version+" ID")
	}
	if l.ID, err = objectid.Parse(words[1]); err != nil {
		return l, fmt.Errorf("%.40q is not an id: want 24 hexadecimal digits", words[1])
	}
	seen := map[string]bool{}
	for _, word := range words[2:] {
		key, value, found := strings.Cut(word, "=")
		if !found || seen[key] {
			return l, fmt.Errorf("%.40q: want key=value, each key once", word)
		}
		seen[key] = true
		if value, err = url.PathUnescape(value); err == nil {
			err = l.set(key, value)
		}
		if err != nil {
			return l, fmt.Errorf("%.40q: %w", word, err)
		}
	}
	return l, nil
}

// set sets the field called key.
func (l *Line) set(key, value string) (err error) {
	switch key {
	case "name", "version":
		text := map[string]*string{"name": &l.Name, "version": &l.Version}[key]
		if *text = value; value == "" || len(value) > maxText || !utf8.ValidString(value) || strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }) {
			err = fmt.Errorf("want 1 to %d bytes of printable characters", maxText)
		}
	case "addr":
		l.Addr = value
		_, err = gpid.ParseAddr(value)
	case "layout":
		err = l.Layout.UnmarshalText([]byte(value))
	default:
		err = errors.New("unknown key: want name, version, addr or layout")
	}
	return err
}

// failure returns the answer to a line that was refused with err.
func failure(err error) string {
	return fmt.Sprintf("error %s\n", strings.ReplaceAll(strings.TrimPrefix(fmt.Sprint(err), "registry: "), "\n", "; "))
}
