package storelock

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/oidkit/oid/lock"
)

// breakLease frees a lock if owner holds it.
func (l *Locker) breakLease(ctx context.Context, name string, owner lock.Owner, who string) error {
	r, err := l.read(ctx, name)
	if err != nil {
		return err
	}
	k := &keeper{l: l, owner: owner, ttl: r.ttl(), record: r}
	if !r.held() || r.Owner != owner {
		return k.lost(r)
	}
	_, err = k.update(createTime, func(r *record) {
		r.free()
		r.Broken = strconv.FormatInt(r.Fence, 10) + " " + who
	})
	return err
}

// lost returns the error of a lease that does not have the lock any more. The error says who
// broke the lock, if somebody did.
func (k *keeper) lost(now record) error {
	if who, broken := strings.CutPrefix(now.Broken, strconv.FormatInt(k.record.Fence, 10)+" "); broken {
		return fmt.Errorf("%w: %q: it was broken by %s", lock.ErrLost, k.record.Name, who)
	}
	return fmt.Errorf("%w: %q is free or has another holder in the store", lock.ErrLost, k.record.Name)
}
