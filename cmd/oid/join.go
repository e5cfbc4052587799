package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

func newJoinCommand(std streams) *cobra.Command {
	var (
		where          storeFlag
		o              registry.AdoptOptions
		sample, layout string
		labels         []string
		asJSON         bool
	)
	cmd := &cobra.Command{
		Use:   "join --sample ID --pid PID",
		Short: "Record a process, so that its ids can be traced",
		Long: `Record a process that makes its ObjectIds with any driver, in any language. It
shows one id of its own as a sample; all others that it makes have the same process
value, and are traced to it from then on.

The command stays in the foreground as the heartbeat of that process. It reads
from /proc what the process uses, and ends when the process ends. Interrupted, it
leaves the process as it is. If another live process holds the same process value,
this is said at once, both are recorded, and the exit code will be 1.

Programs in Go need no such helper: see package registry.

` + registryHelp,
		Example: `  oid join --sample "$(cat /run/app.sample)" --pid "$(cat /run/app.pid)" --addr 10.0.0.7:8080 --name app`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.PID < 1 {
				return usagef("--pid %d: want the id of the process", o.PID)
			}
			id, err := objectid.Parse(sample)
			if err != nil {
				return usageError{fmt.Errorf("--sample: %w", err)}
			}
			if o.Layout, err = layoutNames.find("--layout", layout); err != nil {
				return err
			}
			if _, err := gpid.ParseAddr(o.Addr); err != nil {
				return usageError{fmt.Errorf("--addr: %w", err)}
			}
			if o.Labels, err = parseLabels(labels); err != nil {
				return err
			}
			s, err := where.openToWrite(cmd.Context())
			if err != nil {
				return err
			}
			defer closing(s, &err)
			r := registry.New(s, &registry.Options{OneHost: onlyHere(s), Log: slog.New(stderrLog{w: std.err})})
			m, err := r.Adopt(cmd.Context(), id, &o)
			collision := errors.Is(err, registry.ErrCollision)
			if err != nil && !collision {
				return err
			}
			if err := writeJoined(std.out, m, asJSON); err != nil {
				return errors.Join(err, detach(m))
			}
			select {
			case <-m.Done():
				fmt.Fprintf(std.err, "oid: process %d has ended\n", o.PID)
			case <-cmd.Context().Done():
				if err := detach(m); err != nil {
					return err
				}
			}
			if collision {
				return errReported
			}
			return nil
		},
	}
	where.addFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&sample, "sample", "", "an `ID` that the process made")
	f.IntVar(&o.PID, "pid", 0, "the `PID` of the process")
	f.StringVar(&o.Addr, "addr", "", "the ip:port that its peers dial (default this host and port 0)")
	f.StringVar(&o.Name, "name", "", "the `NAME` of the service (default that of the program)")
	f.StringVar(&o.Version, "program-version", "", "the `VERSION` of the program")
	f.StringArrayVar(&labels, "label", nil, "a label, `KEY=VALUE`; may be given again")
	f.DurationVar(&o.Interval, "interval", 10*time.Second, "the `TIME` between two heartbeats")
	f.BoolVar(&o.Offline, "offline", false, "go on if the store cannot be reached, and register later")
	f.StringVar(&layout, "layout", objectid.Modern.String(), "how its ids are laid out: "+layoutNames.names())
	f.BoolVar(&asJSON, "json", false, "write one JSON object")
	layoutNames.complete(cmd, "layout")
	return cmd
}

// detach leaves the process to itself; the command's own context has ended.
func detach(m *registry.Member) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := m.Detach(ctx); err != nil && !errors.Is(err, registry.ErrEnded) {
		return err
	}
	return nil
}

func writeJoined(w io.Writer, m *registry.Member, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(m.Process())
	}
	_, err := fmt.Fprintln(w, m.GPID())
	return err
}

func parseLabels(given []string) (map[string]string, error) {
	labels := map[string]string{}
	for _, s := range given {
		k, v, ok := strings.Cut(s, "=")
		if !ok || k == "" {
			return nil, usagef("--label %q: want KEY=VALUE", s)
		}
		labels[k] = v
	}
	return labels, nil
}

// stderrLog writes what a heartbeat logs as the command's other messages: the
// error if there is one.
type stderrLog struct{ w io.Writer }

func (stderrLog) Enabled(context.Context, slog.Level) bool { return true }
func (l stderrLog) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l stderrLog) WithGroup(string) slog.Handler          { return l }

func (l stderrLog) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" {
			text = a.Value.String()
		}
		return true
	})
	_, err := fmt.Fprintf(l.w, "oid: %s\n", text)
	return err
}
