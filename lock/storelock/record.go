package storelock

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/holder"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// version is the version of the record format.
const version = 1

// record is the document of a lock.
type record struct {
	Name     string        `bson:"_id"`
	Revision bson.ObjectID `bson:"_rev,omitempty"`
	Version  int           `bson:"version"`
	Fence    int64         `bson:"fence"`
	Owner    lock.Owner    `bson:"-"`
	OwnerRaw string        `bson:"owner,omitempty"` // empty if the lock is free
	Beat     objectid.ID   `bson:"beat"`            // new with each renewal
	TTL      float64       `bson:"ttl_seconds"`
	Since    time.Time     `bson:"since"` // by the holder's clock
	Queue    []string      `bson:"queue"` // owners that wait, in the order in which they came

	Host      string `bson:"host,omitempty"`
	Command   string `bson:"command,omitempty"`
	Boot      string `bson:"boot,omitempty"`
	Namespace int64  `bson:"pid_namespace,omitempty"`
	PID       int    `bson:"pid,omitempty"`
	Ticks     int64  `bson:"ticks,omitempty"`
	Group     int    `bson:"group,omitempty"`

	Note string `bson:"note,omitempty"` // see lock.Once

	Broken string `bson:"broken,omitempty"` // "fence who": the lease that was broken last, and who broke it

	doc bson.Raw // the stored document, or nil if there is none
}

func key(name string) store.Key {
	k, _ := store.StringKey(name) // lock.CheckName has checked that name is UTF-8
	return k
}

var errRecord = errors.New("not the record of a lock")

// parseRecord parses a document. The error names the document and wraps errRecord.
func parseRecord(doc bson.Raw) (r record, err error) {
	// The version comes first: a newer one may have fields of other types.
	if v, ok := doc.Lookup("version").AsInt64OK(); !ok || v != version {
		err = fmt.Errorf("its version is %v, want %d; use the version of the program that wrote it", doc.Lookup("version"), version)
	} else if err = bson.Unmarshal(doc, &r); err == nil {
		switch {
		case r.Fence < 0 || r.OwnerRaw != "" && !(r.TTL > 0 && r.TTL <= lock.MaxTTL.Seconds()):
			err = fmt.Errorf("fence %d or ttl_seconds %v is out of range", r.Fence, r.TTL)
		case r.OwnerRaw != "":
			r.Owner, err = lock.ParseOwner(r.OwnerRaw)
		}
	}
	if err != nil {
		return record{}, fmt.Errorf("document %s is %w: %w", doc.Lookup("_id"), errRecord, err)
	}
	r.doc = doc
	return r, nil
}

func (r record) held() bool { return r.OwnerRaw != "" }

func (r record) ttl() time.Duration { return time.Duration(r.TTL * float64(time.Second)) }

// first returns the first owner in the queue, or "" if nobody waits.
func (r record) first() string {
	if len(r.Queue) == 0 {
		return ""
	}
	return r.Queue[0]
}

// without returns the queue without one owner.
func (r record) without(owner string) []string {
	return slices.DeleteFunc(slices.Clone(r.Queue), func(s string) bool { return s == owner })
}

// take returns the record of a new lease of owner.
func (r record) take(owner lock.Owner, o lock.AcquireOptions) record {
	h := holder.Self(o)
	r.Host, r.Command, r.Group = h.Host, h.Command, h.Group
	r.Boot, r.Namespace, r.PID, r.Ticks = h.Process.Boot, int64(h.Process.Namespace), h.Process.PID, int64(h.Process.Ticks)
	r.Version, r.Since, r.TTL = version, time.Now().UTC(), o.TTL.Seconds()
	r.Owner, r.OwnerRaw = owner, owner.String()
	r.Fence = max(r.Fence+1, time.Now().UnixMicro())
	r.Beat = objectid.New()
	r.Queue = r.without(r.OwnerRaw)
	return r
}

// free makes r the record of a free lock. It keeps the fence, the queue, the note and who
// broke the lock.
func (r *record) free() {
	*r = record{Name: r.Name, Revision: r.Revision, Version: version, Fence: r.Fence, Beat: objectid.New(), Queue: r.Queue, Note: r.Note, Broken: r.Broken}
}

// holder describes the process that holds the lock.
func (r record) holder() lock.Holder {
	return lock.Holder{
		Host: r.Host, Command: r.Command, Group: r.Group,
		Process: gpid.Process{Boot: r.Boot, Namespace: uint64(r.Namespace), PID: r.PID, Ticks: uint64(r.Ticks)},
	}
}

// status returns the status of the lock.
func (r record) status() lock.Status {
	s := lock.Status{Name: r.Name, Waiters: len(r.Queue)}
	if !r.held() {
		return s
	}
	s.Held, s.Owner, s.Fence, s.Since, s.TTL, s.Holder = true, r.Owner, uint64(r.Fence), r.Since, r.ttl(), r.holder()
	s.Holder.State = holder.State(s.Holder)
	return s
}

// sight is the part of a record that waiters compare from one look to the next. It changes
// when a holder writes, and when a free lock is reserved for another waiter.
type sight struct {
	owner, first string
	beat         objectid.ID
}

func (r record) sight() sight {
	if r.held() {
		return sight{owner: r.OwnerRaw, beat: r.Beat}
	}
	return sight{first: r.first(), beat: r.Beat}
}
