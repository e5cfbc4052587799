package registry

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// RegisterRemote records a process that cannot use this package, such as a client of the
// HTTP API in another language. It claims a process block that no other process ever had,
// and returns it in [Process].Block. The caller passes each heartbeat of the process to
// [Registry.Heartbeat], with [Process.Key]; nothing else shows that the process is alive.
// Each call records another process, even with the same GPID, unless o.Key is set.
//
// The error wraps [ErrDescription] for an invalid name, version or label. With o.Key, it wraps
// [ErrKey] if the key was used for another process, and [ErrEnded] if the process that an
// earlier call recorded has ended.
func (r *Registry) RegisterRemote(ctx context.Context, g gpid.GPID, o *RemoteOptions) (Process, error) {
	return r.recordRemote(ctx, g, o, func(*Process) error { return nil })
}

// AdoptRemote is [Registry.RegisterRemote] for a process that creates its ids with a driver.
// evidence must contain one id for each process value of the process; layout is the layout of
// the ids. The error wraps [ErrEvidence] if the process cannot have created the ids. If the
// error is a [*CollisionError], the process is recorded.
func (r *Registry) AdoptRemote(ctx context.Context, g gpid.GPID, evidence []objectid.ID, layout objectid.Layout, o *RemoteOptions) (Process, error) {
	return r.recordRemote(ctx, g, o, func(p *Process) error {
		err := p.adopt(evidence, layout, p.GPID.Start(), wall(r.options.Now))
		if err == nil {
			p.identify()
		}
		return err
	})
}

// recordRemote records a remote process. adopt completes its description.
func (r *Registry) recordRemote(ctx context.Context, g gpid.GPID, o *RemoteOptions, adopt func(*Process) error) (Process, error) {
	o = cmp.Or(o, &RemoteOptions{})
	described := Process{GPID: g, Member: randomID(), Remote: true, Clock: (*ClockOffset)(nil).with(o.Clock, wall(r.options.Now))}
	err := o.describe(&described)
	if err != nil {
		return Process{}, err
	}
	for {
		p, random := described, r.random
		var before *Process // recorded by an earlier call with the key
		var pruned bool
		if o.Key != "" {
			p.Member, random = repeatable(o.Key)
			if before, pruned, err = r.earlier(ctx, o.Key); err != nil {
				return Process{}, err
			}
			if before != nil && o.StartUnknown && before.GPID.Addr() == g.Addr() && before.GPID.PID() == g.PID() {
				p.GPID = before.GPID
			}
			switch {
			case pruned && before.GPID != p.GPID:
				return Process{}, fmt.Errorf("%w: %v", ErrKey, before.GPID)
			case pruned: // it was late for long, and has had its block all the while
				p.From, p.Copied, p.Clock = before.From, before.Copied, before.Clock.with(o.Clock, wall(r.options.Now))
				before = nil
			}
		}
		if err := adopt(&p); err != nil {
			return Process{}, err
		}
		if before != nil {
			return r.repeated(ctx, before, &p)
		}
		c := r.newRecorder(p)
		c.random = random
		if o.Age > 0 && p.adopted() {
			c.clock = clock{now: r.options.Now, ago: o.Age}
			c.trimmed = c.clock.stamp(0)
		}
		err = c.heartbeat(ctx, &noLoad, 0, nil)
		got := c.process()
		if errors.Is(err, errOverwritten) { // another call with the key is recording it, or was interrupted
			if err = r.insertOnce(ctx, processRecords, recordOf(got)); err == nil {
				continue
			}
		}
		if c.recordStored {
			r.memory.remember(got.Key(), c.stored)
		}
		return got, err
	}
}

// repeatable returns the member of a registration with a key, and the random source of its
// blocks. Both depend only on the key, so a repeated call finds the claim of the first.
func repeatable(key string) (member objectid.ID, blocks io.Reader) {
	source := rand.NewChaCha8(sha256.Sum256([]byte(key)))
	_, _ = source.Read(member[:]) // never fails
	return member, source
}

// earlier returns the process that an earlier call with the key has recorded, or nil.
// pruned reports whether its record was pruned.
func (r *Registry) earlier(ctx context.Context, key string) (p *Process, pruned bool, err error) {
	member, blocks := repeatable(key)
	for {
		block, err := drawBlock(blocks)
		if err != nil {
			return nil, false, err
		}
		cl, err := getDoc[claim](ctx, r.store, claimRecords, block)
		if errors.Is(err, store.ErrNotFound) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		m, err := r.member(ctx, MemberKey(livingKey(cl.Key, member)))
		if err == nil {
			return &m.record.Process, false, nil
		}
		if !errors.Is(err, store.ErrNotFound) { // it is another's, or of a call that was interrupted
			return nil, false, err
		}
		if cl.Pruned != nil && cl.of(member) {
			return cl.Pruned, true, nil
		}
	}
}

// repeated returns before, the process that was recorded earlier with the key of p. It
// returns an error if before is another process or has ended.
func (r *Registry) repeated(ctx context.Context, before, p *Process) (Process, error) {
	switch {
	case before.GPID != p.GPID || before.Name != p.Name || before.Host != p.Host || before.adopted() != p.adopted() || p.adopted() && before.Value != p.Value:
		return Process{}, fmt.Errorf("%w: %v, named %q, on host %q", ErrKey, before.GPID, before.Name, before.Host)
	case before.End != nil:
		return Process{}, fmt.Errorf("%w: %v", ErrEnded, before.GPID)
	}
	return *before, r.collision(ctx, before)
}

// Heartbeat records a heartbeat of a remote process. Any Registry of the same store may record
// it.
//
// The error wraps [store.ErrNotFound] if the process has to register again: the member is
// not recorded, or its claim was lost and its block belongs to another process. The error
// wraps [ErrEnded] if the process has ended, [ErrSelfManaged] if it is not remote, and
// [ErrDescription] for an invalid b.Description. If the error is a [*CollisionError], the heartbeat
// is recorded.
func (r *Registry) Heartbeat(ctx context.Context, b *RemoteHeartbeat) (Process, error) {
	return r.writeRemote(ctx, b, nil)
}

// End records that a remote process ended. reason is a text for human readers. age is how
// long ago the process ended; the process may even have ended before it was registered. The
// errors are those of [Registry.Heartbeat].
func (r *Registry) End(ctx context.Context, k MemberKey, reason string, age time.Duration) (Process, error) {
	return r.writeRemote(ctx, &RemoteHeartbeat{Member: k, Age: age}, &End{Reason: reason})
}

// writeRemote records a heartbeat, or an end at the time of b. It keeps what others record
// at the same time, and records nothing after an end.
func (r *Registry) writeRemote(ctx context.Context, b *RemoteHeartbeat, end *End) (Process, error) {
	load := &b.Load
	if end != nil {
		load = nil
	}
	for {
		m, _ := r.member(ctx, b.Member)
		if err := m.checkRemote(b.Description); err != nil {
			return Process{}, err
		}
		c := r.openRecorder(m)
		c.sentAgo(b)
		c.describe(b.Description)
		if at := c.clock.wall(); end != nil && b.Age > 0 {
			if end.Time = at; at.Before(c.p.From) {
				end.Time = c.p.From
			}
		}
		if err := c.heartbeat(ctx, load, 0, end); !errors.Is(err, errOverwritten) {
			return c.process(), err
		}
	}
}

// sentAgo sets the clocks of c to when b was sent.
func (c *recorder) sentAgo(b *RemoteHeartbeat) {
	c.clock.ago = b.Age
	c.update(func(p *Process) { p.Clock = p.Clock.with(b.Clock, wall(c.clock.now).Add(-b.Age)) })
}

// RemoteHeartbeat is a heartbeat of a remote process, for [Registry.Heartbeat].
type RemoteHeartbeat struct {
	Member MemberKey
	Load   Load
	// Clock is what the clock of the process showed when it sent the heartbeat. The zero time
	// means that this is not known.
	Clock time.Time
	// Age is how long ago the process sent the heartbeat. Set it if the heartbeat had to
	// wait, for example until the store could be reached.
	Age time.Duration
	// Description is a new description of the process, which replaces that of before. An empty
	// Name or Version leaves that of before. Nil means that nothing has changed.
	Description *Description
}
