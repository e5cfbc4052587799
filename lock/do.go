package lock

import (
	"context"
	"errors"
)

// Do takes the lock, waiting as long as ctx allows, calls f, and releases the
// lock. The context that f gets ends with ctx and with the lease; f should
// return soon after. Do returns the error of f, or the cause of the lease's end
// if the lease was lost before f returned, or both joined. At most one
// AcquireOptions may be given.
func Do(ctx context.Context, l Locker, name string, f func(ctx context.Context, lease *Lease) error, o ...AcquireOptions) error {
	lease, err := l.Acquire(ctx, name, o...)
	if err != nil {
		return err
	}
	return doUnder(ctx, lease, f)
}

// doUnder is [Do] once the lock is taken.
func doUnder(ctx context.Context, lease *Lease, f func(ctx context.Context, lease *Lease) error) (err error) {
	defer func() { // also when f panics
		if lost := lease.Release(); err == nil {
			err = lost
		} else if lost != nil {
			err = errors.Join(err, lost)
		}
	}()
	work, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(lease.Context(), func() { cancel(context.Cause(lease.Context())) })
	defer stop()
	return f(work, lease)
}
