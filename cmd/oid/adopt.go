package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// adoption are the flags of oid adopt.
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
		Use:        "adopt --evidence ID --pid PID",
		SuggestFor: []string{"join", "register"},
		Short:      "Record a process, so that its ids are traced to it",
		Long: `Record a process that creates its ObjectIds with any driver, in any language. The
sample is one id that it has created; all its other ids have the same process
value, and are traced to it from then on. A process with several clients or workers
has several process values: give a sample of each.

Nothing proves that the process has created the sample. A sample that is older than
the process, or that has the host or the pid of another one, is refused. The ids are
shown as claimed by the process, with what the sample shows: its host and pid, as
drivers wrote until 2018, or only that the process ran at that time.

The command stays in the foreground and sends the heartbeats of the process. It
reads the load of the process from /proc, and ends when the process ends. After an
interrupt, the process stays recorded and counts as late, then as dead. If another
live process has the same process value, the command reports it at once, records
both, and its exit code is 1.

Programs in Go do not need this command: see package registry.`,
		Example: `  oid adopt --evidence "$(cat /run/app.sample)" --pid "$(cat /run/app.pid)" --addr 10.0.0.7:8080 --name app`,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.run(cmd.Context(), std) },
	}
	a.where.addFlag(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&a.evidence, "evidence", nil, "an `ID` that the process created; repeat it for each of its process values")
	f.IntVar(&a.options.PID, "pid", 0, "the `PID` of the process")
	f.StringVar(&a.options.Addr, "addr", "", "the ip:port that its peers dial (default this host and port 0)")
	f.StringVar(&a.options.Name, "name", "", "the `NAME` of the service (default that of the program)")
	f.StringVar(&a.options.Version, "program-version", "", "the `VERSION` of the program")
	f.StringArrayVar(&a.labels, "label", nil, "a label, `NAME=VALUE`; may be repeated")
	f.DurationVar(&a.options.Interval, "interval", 10*time.Second, "the `TIME` between two heartbeats")
	f.BoolVar(&a.options.Offline, "offline", false, "continue if the store cannot be reached, and register later")
	layouts.addFlag(cmd, &a.options.Layout, "layout", objectid.Modern.String(), "the layout of its ids")
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
			std.warn("evidence id %v: the process ran when it was created; nothing in it names the process, so its ids are shown as claimed", adopted.EvidenceID)
		}
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

// check completes the options from the flags. Its errors are usage errors.
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

// detach ends the heartbeats and leaves the record of the process as it is. The
// context of the command has ended.
func detach(m *registry.Member) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := m.Detach(ctx); err != nil && !errors.Is(err, registry.ErrEnded) {
		return err
	}
	return nil
}

// warnHandler writes log records as the other messages of the command: the error if
// there is one.
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
