package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// adoption are the flags of oid adopt.
type adoption struct {
	where          storeFlag
	options        registry.AdoptOptions
	sample, layout string
	labels         []string
	asJSON         jsonFlag
}

func newAdoptCommand(std streams) *cobra.Command {
	var a adoption
	cmd := &cobra.Command{
		Use:        "adopt --sample ID --pid PID",
		SuggestFor: []string{"join", "register"},
		Short:      "Record a process, so that its ids are traced to it",
		Long: `Record a process that creates its ObjectIds with any driver, in any language. The
sample is one id that it has created; all its other ids have the same process
value, and are traced to it from then on.

The command stays in the foreground and sends the heartbeats of the process. It
reads the load of the process from /proc, and ends when the process ends. After an
interrupt, the process stays recorded and counts as late, then as dead. If another
live process has the same process value, the command reports it at once, records
both, and its exit code is 1.

Programs in Go do not need this command: see package registry.

` + registryHelp,
		Example: `  oid adopt --sample "$(cat /run/app.sample)" --pid "$(cat /run/app.pid)" --addr 10.0.0.7:8080 --name app`,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.run(cmd.Context(), std) },
	}
	a.where.addFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&a.sample, "sample", "", "an `ID` that the process created")
	f.IntVar(&a.options.PID, "pid", 0, "the `PID` of the process")
	f.StringVar(&a.options.Addr, "addr", "", "the ip:port that its peers dial (default this host and port 0)")
	f.StringVar(&a.options.Name, "name", "", "the `NAME` of the service (default that of the program)")
	f.StringVar(&a.options.Version, "program-version", "", "the `VERSION` of the program")
	f.StringArrayVar(&a.labels, "label", nil, "a label, `KEY=VALUE`; may be repeated")
	f.DurationVar(&a.options.Interval, "interval", 10*time.Second, "the `TIME` between two heartbeats")
	f.BoolVar(&a.options.Offline, "offline", false, "continue if the store cannot be reached, and register later")
	f.StringVar(&a.layout, "layout", objectid.Modern.String(), "the layout of its ids: "+layouts.names())
	a.asJSON.addFlag(cmd, jsonObject)
	layouts.complete(cmd, "layout")
	return cmd
}

// run records the process and sends its heartbeats.
func (a *adoption) run(ctx context.Context, std streams) (err error) {
	sample, err := a.check()
	if err != nil {
		return err
	}
	s, err := a.where.openToWrite(ctx)
	if err != nil {
		return err
	}
	defer closing(s, &err)
	r := registry.New(s, &registry.Options{OneHost: onlyHere(s), Log: slog.New(warnHandler{std})})
	m, err := r.Adopt(ctx, sample, &a.options)
	collision, collided := errors.AsType[*registry.CollisionError](err)
	if err != nil && !collided {
		return err
	}
	var rivals []gpid.GPID
	if collided {
		rivals = collision.Others
	}
	if err := a.asJSON.emit(std.out, towire.Registered(m.Process(), rivals), textf("%v\n", m.GPID())); err != nil {
		return errors.Join(err, detach(m))
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
func (a *adoption) check() (sample objectid.ID, err error) {
	if a.options.PID == 0 && a.sample == "" {
		return sample, usagef("--sample and --pid are missing: want an id that the process has created, and its pid")
	}
	if a.options.PID < 1 {
		return sample, usagef("--pid %d: want the id of the process", a.options.PID)
	}
	if sample, err = objectid.Parse(a.sample); err != nil {
		return sample, usageError{fmt.Errorf("--sample: %w", err)}
	}
	if a.options.Layout, err = layouts.find("--layout", a.layout); err != nil {
		return sample, err
	}
	if _, err := gpid.ParseAddr(a.options.Addr); err != nil {
		return sample, usageError{fmt.Errorf("--addr: %w", err)}
	}
	a.options.Labels = map[string]string{}
	for _, s := range a.labels {
		k, v, ok := strings.Cut(s, "=")
		if !ok || k == "" {
			return sample, usagef("--label %q: want KEY=VALUE", s)
		}
		a.options.Labels[k] = v
	}
	return sample, nil
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
