package redislock

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/holder"
)

// value is what the key of a lock holds, see scripts/prelude.lua. A lock that is
// free has no owner.
type value struct {
	fence    uint64
	owner    lock.Owner
	reserved bool // for owner; otherwise owner holds the lock
	since    time.Time
	holder   lock.Holder
}

// version is the third field of a value that somebody holds.
const version = "v2"

// describe returns the end of a value: who holds the lock.
func describe(h lock.Holder) string {
	if h == holder.Self(lock.AcquireOptions{}) {
		return ownDetail()
	}
	text, _ := json.Marshal(h) // numbers and texts
	return string(text)
}

// ownDetail describes this process when it holds a lock without command and group, as
// most do.
var ownDetail = sync.OnceValue(func() string {
	text, _ := json.Marshal(holder.Self(lock.AcquireOptions{}))
	return string(text)
})

// parseValue reads what the key of a lock holds; the empty text is a lock that
// nobody has used lately.
func parseValue(s string) (v value, err error) {
	bad := func(what string) (value, error) {
		return value{}, fmt.Errorf("a lock has the value %.200q: %s", s, what)
	}
	f := strings.SplitN(s, " ", 5)
	if s == "" {
		return value{}, nil
	}
	if v.fence, err = strconv.ParseUint(f[0], 10, 64); err != nil {
		return bad("no fence")
	}
	if len(f) == 1 {
		return v, nil
	}
	v.reserved = f[1] == "!" && len(f) == 4
	if v.reserved {
		v.owner, err = lock.ParseOwner(f[2])
	} else {
		v.owner, err = lock.ParseOwner(f[1])
	}
	if err != nil {
		return bad("no owner")
	}
	if v.reserved {
		return v, nil
	}
	if len(f) != 5 || f[2] != version {
		return bad("want the form " + version + "; another version of oid may use this Redis")
	}
	micros, err := strconv.ParseInt(f[3], 10, 64)
	if f[4] == ownDetail() {
		v.holder = holder.Self(lock.AcquireOptions{})
	} else {
		err = errors.Join(err, json.Unmarshal([]byte(f[4]), &v.holder))
	}
	if err != nil {
		return bad(err.Error())
	}
	v.since = time.UnixMicro(micros).UTC()
	return v, nil
}

// held returns the error that says who has the lock called name.
func (v value) held(name string, ttl time.Duration) *lock.HeldError {
	s := v.status(name, ttl)
	s.Owner = v.owner // also if it is only reserved
	return &lock.HeldError{Status: s}
}

// status returns what v says of the lock called name.
func (v value) status(name string, ttl time.Duration) lock.Status {
	if v.owner.IsZero() || v.reserved {
		return lock.Status{Name: name}
	}
	return lock.Status{
		Name: name, Held: true, Owner: v.owner, Fence: v.fence, Since: v.since, TTL: max(0, ttl), Holder: v.holder,
	}
}
