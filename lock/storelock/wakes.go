package storelock

import (
	"context"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/holder"
	"github.com/oidkit/oid/store"
)

// wakes wakes a waiting call before its pause is over. The zero value never wakes it.
type wakes struct {
	signals   <-chan struct{} // receives when the lock may be this call's turn; nil if the store sends no signals
	areSent   func() bool     // reports whether signals currently arrive
	unlisten  func()
	gone      chan struct{} // receives when the holder has ended
	followed  lock.Holder
	unfollow  context.CancelFunc
	listening bool
}

// works reports whether signals currently arrive.
func (w *wakes) works() bool { return w.areSent != nil && w.areSent() }

// listen subscribes the call to signals. If the holder is another process of this host, it
// also watches the holder.
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
			default: // the call is already going to look
			}
		}
	})
}

// stop undoes listen.
func (w *wakes) stop() {
	for _, end := range []func(){w.unlisten, w.unfollow} {
		if end != nil {
			end()
		}
	}
}

// signal wakes the first waiter for a lock that has changed hands. If the lock is free, it
// also wakes the second, because the first may be dead.
func (l *Locker) signal(r record) {
	n := 2
	if r.held() {
		n = 1
	}
	l.wake(r.Queue[:min(n, len(r.Queue))]...)
}

// wake wakes waiters, if the store sends signals.
func (l *Locker) wake(waiters ...string) {
	if s := store.SignalerOf(l.store); s != nil && len(waiters) > 0 {
		s.Signal(waiters...)
	}
}
