package registry

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// Join records this process in the registry that s holds, claims a block of
// process values that no other member ever had, and starts a heartbeat. The
// returned member makes ids; [Member.Leave] ends it. A process may join more than
// once: each member has a block of its own.
//
// ctx bounds the call and not the member's life. If the store cannot be reached,
// Join returns its error, or with o.Offline a member that registers later; then
// it tries for one interval at most. The other errors: o.Addr is no address, which
// wraps [gpid.ErrInvalid], or o.Interval or o.KeepSamples is too short. A nil o
// stands for the zero Options.
func Join(ctx context.Context, s store.Store, o *Options) (*Member, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	g, err := gpid.Self(opts.Addr)
	if err != nil {
		return nil, fmt.Errorf("registry: join: %w", err)
	}
	m := newMember(s, opts, g)
	m.sampler.self = true
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	block, err := hex.DecodeString(m.p.Value)
	if err != nil {
		return nil, fmt.Errorf("registry: join: %w", err)
	}
	m.generator, err = objectid.NewGenerator(&objectid.Options{Block: (*[4]byte)(block), Now: opts.Now})
	if err != nil {
		return nil, fmt.Errorf("registry: join: %w", err)
	}
	go m.run()
	return m, nil
}

// Adopt records a process that makes its ids with any driver, in any language,
// by one id that it made: from then on its ids are traced to it, also those that
// it made before. The process is this one, or on Linux any process of this host,
// see o.PID. The member's heartbeat reads the load of that process and ends when
// it ends. To adopt a process once more is no collision.
//
// If another live process holds the same process value, the error is a
// [*CollisionError], which wraps [ErrCollision], and the member beside it is
// valid: both processes are recorded, and shown as a collision. The error wraps
// [ErrSample] if sample is older than the process or lies in the future, and
// [gpid.ErrNoProcess] if there is no process o.PID. Otherwise Adopt is like
// [Join].
func Adopt(ctx context.Context, s store.Store, sample objectid.ID, o *Options) (*Member, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	m, err := newAdopter(s, opts)
	if err != nil {
		return nil, fmt.Errorf("registry: adopt process %d: %w", opts.PID, err)
	}
	born, err := m.p.Kernel.Started()
	if err != nil {
		born = m.p.GPID.Start()
	}
	switch now := wall(opts.Now); {
	case sample.Time().After(now.Add(time.Minute)):
		return nil, fmt.Errorf("%w: %v is from %s, which is still to come", ErrSample, sample, sample.Time().Format(time.RFC3339))
	case !sample.Time().Before(born.Truncate(time.Second)):
		m.p.From = born.Truncate(time.Millisecond)
	case opts.PID == os.Getpid() && m.p.Kernel == gpid.Process{}:
		m.p.From = sample.Time() // nobody but the id tells how old this process is
	default:
		return nil, fmt.Errorf("%w: %v is from %s, and the process began at %s", ErrSample,
			sample, sample.Time().Format(time.RFC3339), born.Format(time.RFC3339))
	}
	m.p.Sample = sample
	if m.p.Value = valueOf(sample); opts.Layout == objectid.Java {
		m.p.Value = blockOf(sample)
	}
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	go m.run()
	var collision *CollisionError
	if errors.As(m.Err(), &collision) {
		return m, collision
	}
	return m, nil
}

// newMember returns a member that is not yet known to anybody.
func newMember(s store.Store, o Options, g gpid.GPID) *Member {
	m := &Member{
		store:   s,
		options: o,
		view:    New(s, &View{OneHost: o.OneHost, Now: o.Now}),
		clock:   clock{now: o.Now},
		stop:    make(chan struct{}),
		done:    make(chan struct{}),
	}
	m.p = Process{
		GPID:     g,
		Member:   objectid.New(),
		Name:     o.Name,
		Version:  o.Version,
		Labels:   maps.Clone(o.Labels),
		Kernel:   m.view.here.self,
		Network:  m.view.here.network,
		Interval: o.Interval,
	}
	m.p.Host, _ = os.Hostname() // a host without a name is shown without one
	m.p.Executable, _ = os.Executable()
	if info, ok := debug.ReadBuildInfo(); ok && m.p.Version == "" {
		m.p.Version = info.Main.Version
	}
	if m.p.Name == "" {
		m.p.Name = filepath.Base(m.p.Executable)
	}
	m.p.From, m.p.Joined = m.clock.stamp(0), monotonic()
	m.trimmed = m.p.From
	m.sampler = sampler{root: "/proc", kernel: m.p.Kernel}
	return m
}

// newAdopter returns a member for the process o.PID.
func newAdopter(s store.Store, o Options) (*Member, error) {
	if o.PID == os.Getpid() {
		g, err := gpid.Self(o.Addr)
		if err != nil {
			return nil, err
		}
		m := newMember(s, o, g)
		m.sampler.self = true
		m.adopted = true
		return m, nil
	}
	kernel, err := gpid.Of(o.PID)
	if err != nil {
		return nil, err
	}
	g, err := kernel.GPID(o.Addr)
	if err != nil {
		return nil, err
	}
	if o.Name == "" {
		comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", o.PID))
		if err != nil {
			return nil, fmt.Errorf("read its name: %w", err)
		}
		o.Name = strings.ToValidUTF8(strings.TrimSuffix(string(comm), "\n"), "?")
	}
	m := newMember(s, o, g)
	m.adopted = true
	m.p.Kernel, m.sampler.kernel = kernel, kernel
	m.p.Version = o.Version
	m.p.Executable, _ = os.Readlink(fmt.Sprintf("/proc/%d/exe", o.PID)) // another user's is not shown
	return m, nil
}
