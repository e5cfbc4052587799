package storelock

import (
	"context"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/holder"
	"github.com/oidkit/oid/store"
)

// wakes are what makes a waiting call look at the lock before its pause is over. The
// zero wakes do nothing.
type wakes struct {
	signals   <-chan struct{} // get a value when the call is among the next; nil without a Signaler
	areSent   func() bool     // reports whether signals arrive now
	unlisten  func()
	gone      chan struct{} // gets a value when the holder has ended
	followed  lock.Holder
	unfollow  context.CancelFunc
	listening bool
}

// works reports whether signals arrive now.
func (w *wakes) works() bool { return w.areSent != nil && w.areSent() }

// listen makes signals for a call arrive, and watches the holder of its lock, if that
// runs on this host in another process.
func (w *wakes) listen(a *attempt) {
	if !w.listening {
		w.listening = true
		w.gone = make(chan struct{}, 1)
		if s := store.SignalerOf(a.l.store); s != nil {
			w.signals, w.areSent, w.unlisten = s.Listen(a.Owner.String())
		}
	}
	h := a.last.holder()
	if h == w.followed {
		return
	}
	if w.followed = h; w.unfollow != nil {
		w.unfollow()
	}
	if !a.last.held() || h.Process == holder.Self(lock.AcquireOptions{}).Process {
		return
	}
	var ctx context.Context
	ctx, w.unfollow = context.WithCancel(a.l.calls.Closing)
	a.l.calls.Go(func() {
		if holder.Watch(ctx, h) == nil {
			select {
			case w.gone <- struct{}{}:
			default: // it will look anyway
			}
		}
	})
}

// stop ends all that listen has begun.
func (w *wakes) stop() {
	for _, end := range []func(){w.unlisten, w.unfollow} {
		if end != nil {
			end()
		}
	}
}

// signal wakes the first in the queue of a lock that has changed hands, and the second
// too while it is free: the first may be dead.
func (l *Locker) signal(r record) {
	n := 2
	if r.held() {
		n = 1
	}
	l.wake(r.Queue[:min(n, len(r.Queue))]...)
}

// wake makes waiters look at the lock, where the store sends signals.
func (l *Locker) wake(waiters ...string) {
	if s := store.SignalerOf(l.store); s != nil && len(waiters) > 0 {
		s.Signal(waiters...)
	}
}
