package redislock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
	"github.com/oidkit/oid/lock/internal/engine"
	"github.com/oidkit/oid/lock/internal/holder"
)

func (l *Locker) status(ctx context.Context, name string) (s lock.Status, err error) {
	var reply string
	for range tries {
		reply, err = l.eval(ctx, time.Now(), maxTry, statusScript(), l.keysOf(name), []string{""})
		if err == nil || permanent(err) || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return s, l.foreign(name, err)
	}
	fields := strings.SplitN(reply, " ", 3) // waiters, ttl, value
	if len(fields) != 3 {
		return s, errNonce
	}
	waiters, err1 := strconv.Atoi(fields[0])
	ttl, err2 := strconv.ParseInt(fields[1], 10, 64)
	v, err3 := parseValue(fields[2])
	if err := errors.Join(err1, err2, l.foreign(name, err3)); err != nil {
		return s, err
	}
	s = v.status(name, time.Duration(ttl)*time.Millisecond)
	s.Waiters = waiters
	s.Holder.State = holder.State(s.Holder)
	return s, nil
}

// foreign adds to err how to remove the keys of a lock, if err says that they are not those of
// a lock.
func (l *Locker) foreign(name string, err error) error {
	if isForeign(err) {
		return fmt.Errorf("%w; if no program needs it, write: redis-cli DEL '%s'", err, strings.Join(l.keysOf(name), "' '"))
	}
	return err
}

// isForeign reports whether err says that the key of a lock is not that of a lock.
func isForeign(err error) bool { return code(err) == "WRONGTYPE" || errors.Is(err, errValue) }

func (l *Locker) list(ctx context.Context) ([]lock.Status, error) {
	var names []string // with duplicates: a scan may report a key twice, and replicas report it too
	err := l.driver.Scan(ctx, l.keyBegin+"*"+keyEnd, func(key string) {
		name := strings.TrimSuffix(strings.TrimPrefix(key, l.keyBegin), keyEnd)
		if lock.CheckName(name) == nil {
			names = append(names, name)
		}
	})
	if err != nil {
		return nil, err
	}
	var foreign []error // do not hide the locks
	held, err := calls.Held(ctx, names, func(ctx context.Context, name string) (lock.Status, error) {
		s, err := l.status(ctx, name)
		if isForeign(err) {
			foreign = append(foreign, fmt.Errorf("status of %q: %w", name, err))
			return lock.Status{}, nil
		}
		return s, err
	})
	return held, errors.Join(append(foreign, err)...)
}

// notePause is the pause between two attempts to read a note.
const notePause = 100 * time.Millisecond

// note returns the note of a lock, and the time of Redis.
func (l *Locker) note(ctx context.Context, name string) (note engine.Note, err error) {
	mayPass := func(err error) bool { return !permanent(err) }
	err = l.calls.Repeat(ctx, notePause, mayPass, func(ctx context.Context) error {
		reply, err := l.eval(ctx, time.Now(), maxTry, noteScript(), l.noteKeys(name), []string{""})
		at, text, _ := strings.Cut(reply, " ")
		micro := int64(0)
		if err == nil {
			micro, err = strconv.ParseInt(at, 10, 64)
		}
		note = engine.Note{Text: text, Now: time.UnixMicro(micro)}
		return err
	})
	return note, err
}

// value is the parsed value of a lock's key, see scripts/prelude.lua. A free lock has no
// owner.
type value struct {
	fence    uint64
	owner    lock.Owner
	reserved bool // the lock is reserved for owner; otherwise owner holds it
	since    time.Time
	holder   lock.Holder
}

// version is the third field of the value of a held lock.
const version = "v2"

// describe returns the last field of the value of a held lock: the holder in JSON.
func describe(h lock.Holder) string {
	if h == holder.Self(lock.AcquireOptions{}) {
		return ownDetail()
	}
	text, _ := json.Marshal(h) // numbers and texts
	return string(text)
}

// ownDetail is describe for this process without a command and a group. Most locks are held
// like that.
var ownDetail = sync.OnceValue(func() string {
	text, _ := json.Marshal(holder.Self(lock.AcquireOptions{}))
	return string(text)
})

// errValue: the value of a lock's key cannot be parsed.
var errValue = errors.New("the key of the lock has the value")

// parseValue parses the value of a lock's key. The value of a missing key is "": nobody has
// used the lock lately.
func parseValue(s string) (v value, err error) {
	bad := func(what string) (value, error) {
		return value{}, fmt.Errorf("%w %.200q: %s", errValue, s, what)
	}
	f := strings.SplitN(s, " ", 5)
	if s == "" {
		return value{}, nil
	}
	if v.fence, err = strconv.ParseUint(f[0], 10, 64); err != nil {
		return bad("it does not begin with a fence")
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
		return bad("it has no owner")
	}
	if v.reserved {
		return v, nil
	}
	if len(f) != 5 || f[2] != version {
		return bad("want format " + version + "; another version of oid may use this Redis")
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

// status returns the status of the lock called name.
func (v value) status(name string, ttl time.Duration) lock.Status {
	if v.owner.IsZero() || v.reserved {
		return lock.Status{Name: name}
	}
	return lock.Status{
		Name: name, Held: true, Owner: v.owner, Fence: v.fence, Since: v.since, TTL: ttl, Holder: v.holder,
	}
}
