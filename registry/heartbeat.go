package registry

import (
	"context"
	"errors"
	"time"
)

const (
	// maxPending is how many samples are kept while the store cannot be
	// reached: an hour's at the default interval.
	maxPending = 360

	// watchInterval is how often it is asked whether an adopted process runs.
	watchInterval = 500 * time.Millisecond

	// trimInterval is how often a member deletes its old samples.
	trimInterval = time.Hour
)

// run is the heartbeat.
func (m *Member) run() {
	defer close(m.done)
	ticker := time.NewTicker(m.options.Interval)
	defer ticker.Stop()
	var watch <-chan time.Time
	if m.adopted && !m.sampler.self {
		w := time.NewTicker(watchInterval)
		defer w.Stop()
		watch = w.C
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-m.stop // or the call that is under way would hold up Leave
		cancel()
	}()
	defer m.stopOnce.Do(func() { close(m.stop) })
	for {
		select {
		case <-m.stop:
			return
		case <-watch:
			if alive, err := m.sampler.kernel.Alive(); err != nil || alive {
				continue
			}
		case <-ticker.C:
		}
		try, cancelTry := context.WithTimeout(ctx, m.options.Interval)
		m.working.Lock()
		ended, err := m.beatOrEnd(try, nil)
		m.left = ended && err == nil
		left := m.left
		m.working.Unlock()
		cancelTry()
		if left {
			return
		}
		if ctx.Err() == nil {
			m.note(err)
		}
		if ended {
			watch = nil // once an interval is often enough for a store that is away
		}
	}
}

// note keeps err for Err, and logs it if that is news.
func (m *Member) note(err error) {
	m.mu.Lock()
	before := m.err
	m.err = err
	m.mu.Unlock()
	switch {
	case err != nil && (before == nil || errors.Is(err, ErrCollision) != errors.Is(before, ErrCollision)):
		m.options.Log.Warn("registry heartbeat", "gpid", m.p.GPID, "error", err)
	case err == nil && before != nil:
		m.options.Log.Info("registry heartbeat works again", "gpid", m.p.GPID)
	}
}

// beatOrEnd is beat, or the last beat if it turns out that the adopted process
// has ended.
func (m *Member) beatOrEnd(ctx context.Context, end *End) (ended bool, err error) {
	err = m.beat(ctx, end)
	if errors.Is(err, errEnded) {
		return true, m.beat(ctx, &End{Reason: "process ended"})
	}
	return end != nil, err
}

// beat takes a sample and stores what is not yet stored. With an end, which it
// dates, it is the last one. m.working must be held. An error of sampling does
// not keep the heartbeat from the store, but that an adopted process has ended
// or cannot be seen does: that is no sign of life.
func (m *Member) beat(ctx context.Context, end *End) error {
	load, sampleErr := m.sampler.take()
	if sampleErr != nil && !m.sampler.self && end == nil {
		return sampleErr
	}
	var ahead time.Duration
	if m.generator != nil {
		ahead = m.generator.Ahead()
	}
	m.mu.Lock()
	if sampleErr != nil && !m.sampler.self {
		load = m.p.Last.Load // it has ended, and what it used last is what is asked for
	}
	m.p.Last = Beat{Count: m.p.Last.Count + 1, Time: m.clock.stamp(ahead), Monotonic: monotonic(), Load: load}
	if end != nil {
		m.p.End = &End{Time: m.p.Last.Time, Reason: end.Reason}
	}
	last := m.p.Last
	m.mu.Unlock()
	if sampleErr == nil || m.sampler.self {
		m.pending = append(m.pending, last)
		m.pending = m.pending[max(0, len(m.pending)-maxPending):]
	}

	if !m.registered {
		if err := m.register(ctx); err != nil {
			return err
		}
	}
	if err := m.flush(ctx); err != nil {
		return err
	}
	if end != nil {
		return nil
	}
	p := m.Process()
	rivals, err := m.view.rivals(ctx, &p)
	switch {
	case err != nil:
		return err
	case len(rivals) > 0:
		return &CollisionError{Value: p.Value, Others: rivals}
	case m.sampler.self:
		return sampleErr
	}
	return nil
}
