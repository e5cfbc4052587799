package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/registry"
)

// listing is what oid ps was asked for.
type listing struct {
	all    bool
	at     string
	name   string
	asJSON bool
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
		Short: "List the processes that make ids",
		Long: `List the recorded processes that are alive, or with --all those too that were.
With --at, list all runs at an address, in order: where there are several, there
were restarts.

States: alive; late, if the heartbeats of a process of another host have stopped or
its clock is wrong; dead, if it has ended, a later run has its address or three
heartbeats are missing, and it recorded no end; ended, if it recorded its end. A late
process turns out to be alive or dead with --watch. A "!" marks processes that are alive and hold the same process value, so that
their ids may collide.

CPU is the average since the process began.

` + registryHelp,
		Example: `  oid ps
  oid ps --all --name shop
  oid ps --at 10.0.0.7:8080`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			ctx := cmd.Context()
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
	f.BoolVarP(&l.all, "all", "a", false, "list those too that have ended")
	f.StringVar(&l.at, "at", "", "list all runs at this `ADDRESS`, ip:port")
	f.StringVar(&l.name, "name", "", "list only processes of this `NAME`")
	f.BoolVarP(&watch, "watch", "w", false, "list again and again, until interrupted")
	f.DurationVar(&every, "every", 2*time.Second, "with --watch, the `TIME` between two lists")
	f.BoolVar(&l.asJSON, "json", false, "write one JSON object per process, on a line each")
	return cmd
}

// watch writes the list until ctx ends. On a terminal each takes the place of
// the one before.
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

// processes returns those that were asked for, and counts those that are left
// out because they have ended.
func (l *listing) processes(ctx context.Context, r *registry.Registry, ended *int) iter.Seq2[registry.Status, error] {
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
				*ended++
				continue
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

func (l *listing) write(ctx context.Context, std streams, r *registry.Registry) error {
	ended := 0
	if l.asJSON {
		encoder := json.NewEncoder(std.out)
		for p, err := range l.processes(ctx, r, &ended) {
			if err != nil {
				return err
			}
			if err := encoder.Encode(p); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	n := 0
	for p, err := range l.processes(ctx, r, &ended) {
		if err != nil {
			return err
		}
		if n++; n == 1 {
			fmt.Fprintln(table, "STATE\tNAME\tPROCESS\tHOST\tVALUE\tUP\tBEAT\tCPU\tMEMORY\tFILES\tTHREADS")
		}
		fmt.Fprintln(table, row(p, time.Now()))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	switch {
	case ended > 0:
		fmt.Fprintf(std.err, "oid: %d ended, which --all shows\n", ended)
	case n == 0:
		fmt.Fprintln(std.err, "oid: no processes recorded")
	}
	return nil
}

// row is a line of the table.
func row(p registry.Status, now time.Time) string {
	state := string(p.State)
	if len(p.Rivals) > 0 {
		state += "!"
	}
	until := p.Last.Time
	if p.State == registry.Alive {
		until = now
	}
	up, cpu, memory := until.Sub(p.GPID.Start()), "-", "-"
	if p.Last.Load.CPU >= 0 && p.Last.Time.After(p.GPID.Start()) {
		cpu = cpuText(float64(p.Last.Load.CPU) / float64(p.Last.Time.Sub(p.GPID.Start())))
	}
	if p.Last.Load.RSS >= 0 {
		memory = bytesText(float64(p.Last.Load.RSS))
	}
	return fmt.Sprintf("%s\t%s\t%v\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", state, printable(p.Name), p.GPID, printable(p.Host), p.Value,
		spanText(up), spanText(now.Sub(p.Last.Time))+" ago", cpu, memory, countText(p.Last.Load.Files), countText(p.Last.Load.Threads))
}
