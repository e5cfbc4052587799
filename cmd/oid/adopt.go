package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// adoption has the flags of oid adopt.
type adoption struct {
	where    storeFlag
	options  registry.AdoptOptions
	evidence []string
	labels   []string
	asJSON   jsonFlag
}

func newAdoptCommand(std streams) *cobra.Command {
	var a adoption
	cmd := &cobra.Command{
		Use:   "adopt --evidence ID --pid PID",
		Short: "Record a process, so that its ids are traced to it",
		Long: `Record a running process that creates ObjectIds with any driver, in any language, so
that its ids can be traced to it.

Give an evidence id: an id that the process has created. All ids of the process with
the same process value, the five bytes between time and counter, are traced to it
from then on. A process with several clients or workers has several process values;
repeat --evidence with an id of each.

Nothing proves that the process has created the evidence id, so "oid trace" gives the
ids of the process the verdict claimed. The command refuses an evidence id that was
created before the process started, or that contains the pid of another process. Ids
of drivers from before 2018 contain the host and the pid. Any other id shows only that
the process was running when the id was created.

The command stays in the foreground, sends the heartbeats of the process, and ends
when the process ends. It reads the load of the process from /proc. After an
interrupt, the record stays, but the process counts as late and later as dead,
because its heartbeats are missing. If another live process is recorded with the same
process value, the command records this process nevertheless and reports the collision
at once. When the command ends, its exit code is then 1.

Programs in Go do not need this command: see package registry.`,
		Example: `  oid adopt --evidence "$(cat /run/app.id)" --pid "$(cat /run/app.pid)" --addr 10.0.0.7:8080 --name app`,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.run(cmd.Context(), std) },
	}
	a.where.addFlag(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&a.evidence, "evidence", nil, "an `ID` that the process created; repeat it for each of its process values")
	f.IntVar(&a.options.PID, "pid", 0, "`PID` of the process")
	f.StringVar(&a.options.Addr, "addr", "", "`IP:PORT` at which peers reach the process (default this host and port 0)")
	f.StringVar(&a.options.Name, "name", "", "`NAME` of the service (default the name of the program)")
	f.StringVar(&a.options.Version, "program-version", "", "`VERSION` of the program")
	f.StringArrayVar(&a.labels, "label", nil, "a label, `NAME=VALUE`; may be repeated")
	f.DurationVar(&a.options.Interval, "interval", 10*time.Second, "`TIME` between two heartbeats")
	f.BoolVar(&a.options.Offline, "offline", false, "if the store does not answer, continue and record the process later")
	layouts.addFlag(cmd, &a.options.Layout, "layout", objectid.Modern.String(), "layout of the evidence ids")
	a.asJSON.addFlag(cmd, jsonObject)
	return cmd
}

// run records the process and sends its heartbeats.
func (a *adoption) run(ctx context.Context, std streams) (err error) {
	evidence, err := a.check()
	if err != nil {
		return err
	}
	var s store.Store
	if a.options.Offline {
		if _, err := a.where.engine(); err != nil {
			return err
		}
		s = store.OpenLater(a.where.openToWrite)
	} else if s, err = a.where.openToWrite(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	r := registry.New(s, &registry.Options{OneHost: a.where.oneHost(), Log: slog.New(warnHandler{std})})
	m, err := r.Adopt(ctx, evidence, &a.options)
	collision, collided := errors.AsType[*registry.CollisionError](err)
	if err != nil && !collided {
		return err
	}
	var rivals []gpid.GPID
	if collided {
		rivals = collision.Others
	}
	if err := a.asJSON.emit(std.out, towire.Registered(m.Process(), rivals), textf("%v\n", m.Process().GPID)); err != nil {
		return errors.Join(err, detach(m))
	}
	for _, adopted := range m.Process().Adopted {
		if adopted.Evidence == registry.ByTime {
			std.warn("evidence id %v: it shows only that the process was running when it was created, so ids are traced to the process as claimed", adopted.EvidenceID)
		}
	}
	if p := m.Process(); len(p.Labels) > len(a.options.Labels) {
		labels := each.Of(slices.Sorted(maps.Keys(p.Labels)), func(name string) string { return name + "=" + p.Labels[name] })
		std.warn("recorded with what the process says of itself: %s", phrase.Shown(strings.Join(append([]string{p.Name, p.Version}, labels...), " ")))
	}
	select {
	case <-m.Done():
		std.warn("process %d has ended", a.options.PID)
	case <-ctx.Done():
		if err := detach(m); err != nil {
			return err
		}
	}
	if collided {
		return errReported
	}
	return nil
}

// check checks the flags and sets the options from them.
func (a *adoption) check() (evidence []objectid.ID, err error) {
	switch {
	case a.options.PID == 0 && len(a.evidence) == 0:
		return nil, usagef("--evidence and --pid are missing: want an id that the process has created, and its pid")
	case a.options.PID < 1:
		return nil, usagef("--pid %d: want the id of the process", a.options.PID)
	case len(a.evidence) == 0:
		return nil, usagef("--evidence is missing: want an id that the process has created")
	}
	for _, text := range a.evidence {
		id, err := objectid.Parse(text)
		if err != nil {
			return nil, usageError{fmt.Errorf("--evidence: %w", err)}
		}
		evidence = append(evidence, id)
	}
	if _, err := gpid.ParseAddr(a.options.Addr); err != nil {
		return nil, usageError{fmt.Errorf("--addr: %w", err)}
	}
	if i := a.options.Interval; i < registry.MinInterval || i > registry.MaxInterval {
		return nil, usagef("--interval %v: want %v to %v", i, registry.MinInterval, registry.MaxInterval)
	}
	if a.options.Labels, err = registry.ParseLabels(a.labels); err != nil {
		return nil, usagef("--%s", phrase.Plain(err.Error()))
	}
	return evidence, nil
}

// detach ends the heartbeats and leaves the record of the process as it is. It makes its own
// context, because that of the command is done.
func detach(m *registry.Member) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := m.Detach(ctx); err != nil && !errors.Is(err, registry.ErrEnded) {
		return err
	}
	return nil
}

// warnHandler writes a log record like the other messages of the command. It writes the
// error of the record or, if there is none, its message.
type warnHandler struct{ std streams }

func (warnHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h warnHandler) WithAttrs([]slog.Attr) slog.Handler     { return h }
func (h warnHandler) WithGroup(string) slog.Handler          { return h }

func (h warnHandler) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" {
			text = a.Value.String()
		}
		return true
	})
	h.std.warn("%s", text)
	return nil
}
