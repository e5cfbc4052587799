package redislock

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/lock"
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
	return strings.Join([]string{
		dash(h.Process.Boot), strconv.FormatUint(h.Process.Namespace, 10), strconv.Itoa(h.Process.PID),
		strconv.FormatUint(h.Process.Ticks, 10), strconv.Itoa(h.Group), dash(h.Host), dash(h.Command),
	}, " ")
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return url.QueryEscape(s)
}

// parseValue reads what the key of a lock holds; the empty text is a lock that
// nobody has used lately.
func parseValue(s string) (v value, err error) {
	bad := func(what string) (value, error) {
		return value{}, fmt.Errorf("a lock has the value %.200q: %s", s, what)
	}
	f := strings.Split(s, " ")
	if s == "" {
		return value{}, nil
	}
	if v.fence, err = strconv.ParseUint(f[0], 10, 64); err != nil {
		return bad("no fence")
	}
	switch {
	case len(f) == 1:
		return v, nil
	case f[1] == "!" && len(f) == 4:
		v.reserved = true
		if v.owner, err = lock.ParseOwner(f[2]); err != nil {
			return bad("no owner")
		}
		return v, nil
	case len(f) != 11 || f[2] != version:
		return bad("want the form " + version + "; another version of oid may use this Redis")
	}
	micros, err1 := strconv.ParseInt(f[3], 10, 64)
	ns, err2 := strconv.ParseUint(f[5], 10, 64)
	pid, err3 := strconv.Atoi(f[6])
	ticks, err4 := strconv.ParseUint(f[7], 10, 64)
	group, err5 := strconv.Atoi(f[8])
	v.owner, err = lock.ParseOwner(f[1])
	for _, e := range []error{err, err1, err2, err3, err4, err5} {
		if e != nil {
			return bad(e.Error())
		}
	}
	v.since = time.UnixMicro(micros).UTC()
	v.holder = lock.Holder{
		Process: gpid.Process{Boot: undash(f[4]), Namespace: ns, PID: pid, Ticks: ticks},
		Group:   group, Host: undash(f[9]), Command: undash(f[10]),
	}
	return v, nil
}

func undash(s string) string {
	if s == "-" {
		return ""
	}
	plain, _ := url.QueryUnescape(s) // only for people to read
	return plain
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
