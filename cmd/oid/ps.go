package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
)

// listing has the flags of oid ps.
type listing struct {
	all    bool
	wide   bool
	at     string
	name   string
	host   string
	labels []string
	state  registry.State
	asJSON jsonFlag
	zone   zone
}

const psHelp = `List the recorded processes that are alive or late. With --all, also list those
that are dead or ended. With --at, list all runs at an address, ordered by start;
several runs show restarts.

States:
  alive  the kernel of this host shows the process, or its heartbeats arrive
  late   it is not known whether the process runs. It is on another host and its
         heartbeats have stopped or its clock differs, or the store did not answer
         for a while. A running "oid serve" finds out whether it is alive or dead
  dead   the process ended without reporting its end, or three of its heartbeats
         are missing. If the process is on another host, it is late until a running
         "oid serve" has waited for these heartbeats
  ended  the process reported its end
A "!" after the state means that another live process has the same process value, so
that their ids can collide.

CPU is the average number of processors in use since the process started. A
terminal shows long names without their middle, unless --wide is set. --label also takes
service.name, service.version, host.name and service.instance.id.`

func newPsCommand(std streams) *cobra.Command {
	var (
		where storeFlag
		l     listing
	)
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "List the processes that create ids",
		Long:  psHelp,
		Example: `  oid ps
  oid ps --all --name shop
  oid ps --all --label k8s.pod.name=shop-7d4b9c-x2x
  oid ps --at 10.0.0.7:8080`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			ctx := cmd.Context()
			q, err := l.query()
			if err != nil {
				return err
			}
			return using(ctx, where.openToRead, func(s store.Store) error {
				return l.write(ctx, std, where.registry(s), q)
			})
		},
	}
	where.addFlag(cmd)
	f := cmd.Flags()
	f.BoolVarP(&l.all, "all", "a", false, "also list processes that are dead or ended")
	f.BoolVarP(&l.wide, "wide", "w", false, "do not shorten long names")
	f.StringVar(&l.at, "at", "", "list all runs at this `ADDRESS`, ip:port")
	f.StringVar(&l.name, "name", "", "list only processes of this `NAME`")
	f.StringVar(&l.host, "host", "", "list only processes on this `HOST`")
	f.StringArrayVar(&l.labels, "label", nil, "list only processes with this label, `NAME=VALUE`; may be repeated")
	stringForms(registry.States()).addFlag(cmd, &l.state, "state", "", "list only processes in this `STATE`")
	l.asJSON.addFlag(cmd, jsonObjects)
	l.zone.addFlag(cmd)
	return cmd
}

// query returns what the flags ask for.
func (l *listing) query() (q registry.Query, err error) {
	q = registry.Query{Name: l.name, Host: l.host}
	switch {
	case l.state != "":
		q.States = []registry.State{l.state}
	case !l.all && l.at == "":
		q.States = []registry.State{registry.Alive, registry.Late}
	}
	if q.Labels, err = registry.ParseLabels(l.labels); err != nil {
		return q, usagef("--%s", phrase.Plain(err.Error()))
	}
	if l.at != "" {
		if q.Addr, err = registry.ParseAddr(l.at); err != nil {
			return q, usageError{fmt.Errorf("--at: %w", err)}
		}
	}
	return q, nil
}

func (l *listing) write(ctx context.Context, std streams, r *registry.Registry, q registry.Query) error {
	var found []registry.Status
	for p, err := range r.All(ctx, q) {
		if err != nil {
			return err
		}
		found = append(found, p)
	}
	slices.SortStableFunc(found, func(a, b registry.Status) int {
		return cmp.Or(a.GPID.Addr().Compare(b.GPID.Addr()), a.GPID.Start().Compare(b.GPID.Start()))
	})
	var table [][]string
	names := towire.Names(found)
	for i, p := range found {
		err := l.asJSON.emit(std.out, towire.Process(p), func(io.Writer) error {
			if i == 0 {
				table = append(table, []string{"STATE", "NAME", "GPID", "POD OR HOST", "VALUE", "STARTED", "UP", "HEARTBEAT", "CPU", "MEMORY", "FILES", "THREADS"})
			}
			table = append(table, processRow(p, names[i], l.zone.now()))
			return nil
		})
		if err != nil {
			return err
		}
	}
	var shortened []int
	if isTerminal(std.out) && !l.wide {
		shortened = []int{1, 3}
	}
	if err := writeTable(std.out, table, shortened...); err != nil {
		return err
	}
	if len(found) > 0 || bool(l.asJSON) {
		return nil
	}
	empty, err := warnIfEmpty(ctx, std, r)
	if err != nil || empty {
		return err
	}
	if !l.all && l.state == "" && l.at == "" {
		q.States = nil
		gone := int64(0)
		for _, err := range r.All(ctx, q) {
			if err != nil {
				return err
			}
			gone++
		}
		if gone > 0 {
			std.warn("no matching process is alive or late; to list %s, add --all", phrase.Count(gone, "dead or ended process", "dead or ended processes"))
			return nil
		}
	}
	labels := map[bool]string{true: " --json"}[len(q.Labels) > 0] // JSON has the labels
	std.warn("no process matches; to list all recorded processes, run: oid ps --all%s", labels)
	return nil
}

// processRow returns the row of the table for p, with times in the time zone of now.
func processRow(p registry.Status, name string, now time.Time) []string {
	state := string(p.State)
	if len(p.Rivals) > 0 {
		state += "!"
	}
	until := p.Last.Time
	if p.State == registry.Alive {
		until = now
	}
	load, started := p.Last.Load, p.GPID.Start()
	processors := registry.CPUUsed(&registry.Sample{Time: started}, &registry.Sample{Time: p.Last.Time, Load: load})
	return []string{
		state, phrase.Shown(strings.TrimSpace(p.Name + " " + p.Version)), phrase.Shown(name), phrase.Shown(cmp.Or(p.Labels["k8s.pod.name"], p.Host)), p.Value,
		map[bool]string{true: "before "}[p.StartUnknown] + started.In(now.Location()).Format(time.DateTime), phrase.Length(until.Sub(started)), phrase.Length(now.Sub(p.Last.Time)) + " ago",
		known(processors, cpuText), known(float64(load.RSS), bytesText), known(float64(load.Files), countText), known(float64(load.Threads), countText),
	}
}

// warnIfEmpty warns if r has no processes: the user may have meant another store.
func warnIfEmpty(ctx context.Context, std streams, r *registry.Registry) (empty bool, err error) {
	recorded, err := r.List(ctx, registry.Query{Limit: 1})
	if empty = err == nil && len(recorded.Processes) == 0; empty {
		std.warn("no processes are recorded in this store; select another one with --store or OID_STORE")
	}
	return empty, err
}
