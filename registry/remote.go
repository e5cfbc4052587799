package registry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// RegisterRemote records a process that cannot use this package, such as a program
// in another language that calls the HTTP API. It claims a process block for it
// that no other process ever had, [Process.Block]. The caller passes the heartbeats
// of the process to [Registry.Heartbeat]; nothing else shows that it is alive. It
// fails if o.Interval is too short, or with the error of the store. A nil o stands
// for the zero RemoteOptions.
func (r *Registry) RegisterRemote(ctx context.Context, g gpid.GPID, o *RemoteOptions) (Process, error) {
	p, err := r.remoteProcess(g, o)
	if err != nil {
		return Process{}, err
	}
	c := r.newRecorder(p)
	p, err = c.remoteHeartbeat(ctx, &noLoad, nil)
	if c.registered {
		r.remember(g, c.stored)
	}
	return p, err
}

// AdoptRemote is [Registry.RegisterRemote] for a process that creates its ids with
// a driver: it is recorded by one id of each of its process values, with their
// layout, as by [Registry.Adopt]. The error wraps [ErrSample] if the process cannot
// have created a sample. With a [*CollisionError] the process is valid, too.
func (r *Registry) AdoptRemote(ctx context.Context, g gpid.GPID, samples []objectid.ID, layout objectid.Layout, o *RemoteOptions) (Process, error) {
	p, err := r.remoteProcess(g, o)
	if err != nil {
		return Process{}, err
	}
	if err := p.adopt(samples, layout, g.Start(), wall(r.options.Now)); err != nil {
		return Process{}, err
	}
	p.identify()
	c := r.newRecorder(p)
	p, err = c.remoteHeartbeat(ctx, &noLoad, nil)
	if c.registered {
		r.remember(g, c.stored)
	}
	return p, err
}

func (r *Registry) remoteProcess(g gpid.GPID, o *RemoteOptions) (Process, error) {
	if o == nil {
		o = &RemoteOptions{}
	}
	interval, err := checkInterval(o.Interval)
	return Process{
		GPID: g, Member: randomID(), Name: o.Name, Host: o.Host, Version: o.Version, Labels: maps.Clone(o.Labels),
		Interval: interval, Remote: true, Clock: (*ClockOffset)(nil).with(o.Clock, wall(r.options.Now)),
	}, err
}

// Heartbeat records a heartbeat of a remote process with its load, and the time by
// the clock of the process when it sent the heartbeat, or the zero time. It needs no
// memory of the process: any Registry of the same store may record it. The error
// wraps [store.ErrNotFound] if the process is not recorded, [ErrEnded] if it has
// ended, and [ErrSelfManaged] if it is not a remote one. A [*CollisionError] means
// that the heartbeat is recorded and another live process has the same process
// value.
func (r *Registry) Heartbeat(ctx context.Context, g gpid.GPID, load Load, clock time.Time) (Process, error) {
	return r.writeRemote(ctx, g, &load, clock, nil)
}

// End records the end of a remote process with its reason. The errors are those of
// [Registry.Heartbeat].
func (r *Registry) End(ctx context.Context, g gpid.GPID, reason string) (Process, error) {
	return r.writeRemote(ctx, g, nil, time.Time{}, &End{Reason: reason})
}

// writeRemote records a heartbeat or an end, on top of what others record at the
// same time: none of it is lost, and nothing follows an end.
func (r *Registry) writeRemote(ctx context.Context, g gpid.GPID, load *Load, clock time.Time, end *End) (Process, error) {
	for {
		c, err := r.remote(ctx, g)
		if err != nil {
			return Process{}, err
		}
		c.update(func(p *Process) { p.Clock = p.Clock.with(clock, wall(r.options.Now)) })
		if p, err := c.remoteHeartbeat(ctx, load, end); !errors.Is(err, errForeign) {
			return p, err
		}
	}
}

// remote returns the recorder of the latest registration of a remote process.
func (r *Registry) remote(ctx context.Context, g gpid.GPID) (*recorder, error) {
	doc, err := r.latest(ctx, g)
	if err != nil {
		return nil, err
	}
	p := &doc.Process
	if !p.Remote {
		return nil, fmt.Errorf("%w: %v", ErrSelfManaged, g)
	}
	stored, l, err := r.living(ctx, livingKey(p.Block, p.Member))
	switch {
	case err == nil:
		l.over(p)
	case !errors.Is(err, store.ErrNotFound):
		return nil, err
	case p.End == nil: // it may have ended in between
		if p, err = r.load(ctx, processKey(g, p.Block)); err != nil {
			return nil, err
		}
	}
	if p.End != nil {
		return nil, fmt.Errorf("%w: %v", ErrEnded, g)
	}
	return r.openRecorder(*p, stored, l), nil
}

// fewRuns is how many times most processes are recorded at most.
const fewRuns = 2

// livingRemotes is remote for many processes with few calls of the store. It returns
// the living records, nil for those that have none.
func (r *Registry) livingRemotes(ctx context.Context, all []gpid.GPID) ([]bson.Raw, []error) {
	errs := make([]error, len(all))
	ranges, keys := make([]store.Range, len(all)), make([]string, len(all))
	for i, g := range all {
		ranges[i] = runRange(g)
	}
	runs, err := findMany(ctx, r.store, processes, ranges, fewRuns)
	docs := make([]*record, len(all))
	for i := range runs {
		if docs[i], errs[i] = latestOf(all[i], runs[i]); errs[i] == nil {
			if p := &docs[i].Process; p.Remote {
				keys[i] = livingKey(p.Block, p.Member)
			} else {
				errs[i] = fmt.Errorf("%w: %v", ErrSelfManaged, all[i])
			}
		}
	}
	var found []bson.Raw
	if err == nil {
		found, err = getRaw(ctx, r.store, livingRecords, keys)
	}
	if err != nil {
		for i := range errs {
			errs[i] = err
		}
		return make([]bson.Raw, len(all)), errs
	}
	var rest []int // which take calls of their own
	for i, raw := range found {
		switch {
		case errs[i] != nil:
		case raw == nil:
			rest = append(rest, i)
		default:
			errs[i] = endedAs(docs[i], raw)
		}
	}
	_ = each(len(rest), func(i int) error {
		c, err := r.remote(ctx, all[rest[i]])
		if errs[rest[i]] = err; err == nil {
			found[rest[i]] = c.stored
		}
		return nil
	})
	return found, errs
}

// endedAs returns an error that wraps [ErrEnded] if the record or the living record of a
// process says so.
func endedAs(doc *record, raw bson.Raw) error {
	l, err := decodeLiving(raw)
	if err != nil {
		return err
	}
	if l.over(&doc.Process); doc.End != nil {
		return fmt.Errorf("%w: %v", ErrEnded, doc.GPID)
	}
	return nil
}

func (c *recorder) remoteHeartbeat(ctx context.Context, load *Load, end *End) (Process, error) {
	err := c.heartbeat(ctx, load, 0, end)
	return c.process(), err
}
