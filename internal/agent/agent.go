// Package agent records the processes of its host: one agent serves the programs of a
// host in any language.
//
// A program connects to the Unix socket of the agent, writes one [Line] with an id that
// its own driver has created, and keeps the connection open. The kernel shows the agent
// which process connected, also through PID namespaces, and when it ends. Nothing else is
// believed: a process can speak only for itself. The agent measures its load, and passes
// everything to a [Sink].
//
// While the sink is away, the agent keeps what is to be recorded, with its times. A file
// holds which processes it has, so that an agent that is started again continues with
// them.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// Options configure [Serve]. Open and State are required.
type Options struct {
	// Open returns the sink in which processes are recorded. It is called until it
	// succeeds, and then not again.
	Open func(ctx context.Context) (Sink, error)
	// State is the path of the file with the processes of the agent. It is only of use
	// until the host is started again.
	State string
	// Interval between two heartbeats of a process. Default: 10s.
	Interval time.Duration
	// Log receives what an operator has to know. Default: slog.Default().
	Log *slog.Logger
}

// Sink records processes, such as in a store with [ToRegistry], or on a server. Its
// methods are called by several goroutines at once. Their errors are those of the
// registry, or wrap [ErrRefused] or [ErrForgotten]. Others mean that the sink is away: the
// agent then calls again. A [registry.CollisionError] means that the call is recorded.
type Sink interface {
	// Register records a process with ids that it has created, and returns its member
	// key. A second call with the same o.Key returns the same member. An error beside a
	// key is a warning: the process is recorded.
	Register(ctx context.Context, g gpid.GPID, samples []objectid.ID, layout objectid.Layout, o *registry.RemoteOptions) (member registry.MemberKey, err error)
	// AddEvidence records further ids of a process.
	AddEvidence(ctx context.Context, member registry.MemberKey, samples []objectid.ID, layout objectid.Layout) error
	// Heartbeats records heartbeats of different processes, and returns an error or nil
	// for each.
	Heartbeats(ctx context.Context, beats []registry.RemoteHeartbeat) []error
	// End records that a process has ended, age ago.
	End(ctx context.Context, member registry.MemberKey, reason string, age time.Duration) error
}

var (
	// ErrRefused is wrapped by the errors of a [Sink] that calling again does not change.
	ErrRefused = errors.New("agent: refused")
	// ErrForgotten is wrapped by the errors of a [Sink] that does not know the member, or
	// says that it has ended: the agent registers the process again.
	ErrForgotten = errors.New("agent: not recorded")
)

// ToRegistry returns the sink that records processes in a registry.
func ToRegistry(r *registry.Registry) Sink { return toRegistry{r} }

// toRegistry has the method Heartbeats of the registry.
type toRegistry struct{ *registry.Registry }

// Register is [Sink.Register].
func (t toRegistry) Register(ctx context.Context, g gpid.GPID, samples []objectid.ID, layout objectid.Layout, o *registry.RemoteOptions) (member registry.MemberKey, err error) {
	p, err := t.AdoptRemote(ctx, g, samples, layout, o)
	if err == nil || errors.Is(err, registry.ErrCollision) {
		member = p.Key()
	}
	return member, err
}

// AddEvidence is [Sink.AddEvidence].
func (t toRegistry) AddEvidence(ctx context.Context, member registry.MemberKey, samples []objectid.ID, layout objectid.Layout) error {
	_, err := t.Registry.AddEvidence(ctx, member, samples, layout)
	return err
}

// End is [Sink.End].
func (t toRegistry) End(ctx context.Context, member registry.MemberKey, reason string, age time.Duration) error {
	_, err := t.Registry.End(ctx, member, reason, age)
	return err
}

// sinkError returns an error of the registry as [ErrRefused] or [ErrForgotten], if it is
// one of them, and nil for a collision: the call is recorded.
func sinkError(err error) error {
	switch {
	case errors.Is(err, registry.ErrCollision):
		return nil
	case errors.Is(err, registry.ErrEvidence), errors.Is(err, registry.ErrDescription), errors.Is(err, gpid.ErrInvalid), errors.Is(err, registry.ErrSelfManaged), errors.Is(err, registry.ErrKey):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	case errors.Is(err, store.ErrNotFound), errors.Is(err, registry.ErrEnded):
		return fmt.Errorf("%w: %w", ErrForgotten, err)
	}
	return err
}

// Bounds of what a program may send. A name and a version are as long as those of a
// registration over HTTP.
const (
	maxLine = 1000 // bytes, with the newline
	maxText = 200  // bytes of a name or a version
)

// Version is the first word of each line, and names the format.
const Version = "oid1"

// Line is what a program says of itself.
type Line struct {
	// ID is an id that the program has created.
	ID objectid.ID
	// Layout of its ids. Default: [objectid.Modern].
	Layout objectid.Layout
	// Name of the service, Version of the program, and the ip:port that peers dial, all
	// empty unless given.
	Name, Version, Addr string
}

// ParseLine reads a line without its newline: the version, an id, and fields of the form
// key=value in any order, each at most once. Values are percent-encoded. The error says
// what is wrong with the line, for the program that has sent it.
func ParseLine(text string) (l Line, err error) {
	words := strings.Fields(text)
	switch {
	case !utf8.ValidString(text):
		return l, errors.New("the line is not UTF-8")
	case len(words) == 0 || words[0] != Version:
		return l, fmt.Errorf("the line begins with %.40q, want %q", strings.Join(words[:min(1, len(words))], ""), Version+" ID")
	case len(words) == 1:
		return l, fmt.Errorf("the id is missing, want %q", Version+" ID")
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
		err = errors.New("the key is not known: want name, version, addr or layout")
	}
	return err
}

// failure is the answer to a line with an error.
func failure(err error) string {
	return fmt.Sprintf("error %s\n", strings.ReplaceAll(strings.TrimPrefix(fmt.Sprint(err), "registry: "), "\n", "; "))
}
