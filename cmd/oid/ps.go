package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/registry"
)

// listing are the flags of oid ps.
type listing struct {
	all    bool
	at     string
	name   string
	asJSON jsonFlag
	zone   zone
}

func newPsCommand(std streams) *cobra.Command {
	var (
		where storeFlag
		l     listing
		watch bool
		every time.Duration
	)
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "List the processes that create ids",
		Long: `List the recorded processes that are alive or late; with --all also those that
are dead or ended. With --at, list all runs at an address, in order: several runs
show restarts.

States:
  alive  the kernel of this host shows the process, or its heartbeats arrive
  late   the heartbeats of a process of another host have stopped, or its clock
         differs; --watch finds out whether it is alive or dead
  dead   the process ended without a report, or three heartbeats are missing
  ended  the process reported its end
A "!" marks live processes with the same process value: their ids can collide.

CPU is the average since the process started.

` + zoneHelp + "\n\n" + registryHelp,
		Example: `  oid ps
  oid ps --all --name shop
  oid ps --at 10.0.0.7:8080`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			ctx := cmd.Context()
			if cmd.Flags().Changed("every") && !cmd.Flags().Changed("watch") {
				return usagef("--every goes with --watch")
			}
			if every < 100*time.Millisecond {
				return usagef("--every %v: want 100ms or more", every)
			}
			if l.at != "" {
				if _, err := gpid.ParseAddr(l.at); err != nil {
					return usageError{fmt.Errorf("--at: %w", err)}
				}
			}
			r, s, err := where.openRegistry(ctx)
			if err != nil {
				return err
			}
			defer closing(s, &err)
			if !watch {
				return l.write(ctx, std, r)
			}
			return l.watch(ctx, std, r, every)
		},
	}
	where.addFlag(cmd)
	f := cmd.Flags()
	f.BoolVarP(&l.all, "all", "a", false, "also list processes that are dead or ended")
	f.StringVar(&l.at, "at", "", "list all runs at this `ADDRESS`, ip:port")
	f.StringVar(&l.name, "name", "", "list only processes of this `NAME`")
	f.BoolVarP(&watch, "watch", "w", false, "repeat the list until interrupted")
	f.DurationVar(&every, "every", 2*time.Second, "with --watch, the `TIME` between two lists")
	l.asJSON.addFlag(cmd, jsonObjects)
	l.zone.addFlag(cmd)
	return cmd
}

// watch writes the list until ctx ends. On a terminal each list replaces the one
// before.
func (l *listing) watch(ctx context.Context, std streams, r *registry.Registry, every time.Duration) error {
	clear, between := "", ""
	if f, ok := std.out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		clear = "\x1b[H\x1b[2J"
	} else if !l.asJSON {
		between = "\n"
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if _, err := io.WriteString(std.out, clear); err != nil {
			return err
		}
		if err := l.write(ctx, std, r); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		if _, err := io.WriteString(std.out, between); err != nil {
			return err
		}
	}
}

// processes returns the processes to list, and counts in hidden those that are not
// listed because they are dead or ended.
func (l *listing) processes(ctx context.Context, r *registry.Registry, hidden *int64) iter.Seq2[registry.Status, error] {
	seq := r.List(ctx)
	if l.at != "" {
		addr, _ := gpid.ParseAddr(l.at) // checked before
		seq = r.At(ctx, addr)
	}
	return func(yield func(registry.Status, error) bool) {
		for p, err := range seq {
			if err == nil && l.name != "" && p.Name != l.name {
				continue
			}
			if err == nil && !l.all && l.at == "" && p.State != registry.Alive && p.State != registry.Late {
				*hidden++
				continue
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

func (l *listing) write(ctx context.Context, std streams, r *registry.Registry) error {
	table := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	var n, hidden int64
	for p, err := range l.processes(ctx, r, &hidden) {
		if err != nil {
			return err
		}
		n++
		err := l.asJSON.emit(std.out, towire.Process(p), func(io.Writer) error {
			if n == 1 {
				fmt.Fprintln(table, "STATE\tNAME\tGPID\tHOST\tVALUE\tSTARTED\tUP\tHEARTBEAT\tCPU\tMEMORY\tFILES\tTHREADS")
			}
			_, err := fmt.Fprintln(table, row(p, l.zone.now()))
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	switch {
	case bool(l.asJSON):
	case hidden > 0:
		std.warn("%s hidden; use --all", phrase.Count(hidden, "ended process", "ended processes"))
	case n == 0:
		std.warn("no processes recorded")
	}
	return nil
}

// row is a line of the table, with times in the zone of now.
func row(p registry.Status, now time.Time) string {
	state := string(p.State)
	if len(p.Rivals) > 0 {
		state += "!"
	}
	until := p.Last.Time
	if p.State == registry.Alive {
		until = now
	}
	load, started := p.Last.Load, p.GPID.Start()
	processors := -1.
	if load.CPU >= 0 && p.Last.Time.After(started) {
		processors = float64(load.CPU) / float64(p.Last.Time.Sub(started))
	}
	return fmt.Sprintf("%s\t%s\t%v\t%s\t%s\t%s\t%s\t%s ago\t%s\t%s\t%s\t%s", state, printable(p.Name), p.GPID, printable(p.Host), p.Value,
		started.In(now.Location()).Format(time.DateTime), phrase.Length(until.Sub(started)), phrase.Length(now.Sub(p.Last.Time)),
		known(processors, cpuText), known(float64(load.RSS), bytesText), known(float64(load.Files), countText), known(float64(load.Threads), countText))
}
