package registry

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/classic"
	"github.com/oidkit/oid/store"
)

// endedDoc is an entry in the index of ended processes; see endedKey. An entry may be
// outdated, because the process turned out to be alive: the record decides.
type endedDoc struct {
	Key    string `bson:"_id"`
	Format int    `bson:"v"`

	raw     bson.Raw // as it is stored
	process string   // the key of the record
}

// endedKey returns the key of an ended process by the time of its last heartbeat, which is
// also the time of its end.
func endedKey(last time.Time, process string) string { return millis(last) + ":" + process }

// read reads the document from BSON, and keeps raw.
func (d *endedDoc) read(raw bson.Raw) error {
	key, _ := raw.Lookup("_id").StringValueOK()
	digits, process, ok := strings.Cut(key, ":")
	if _, err := strconv.ParseInt(digits, 10, 64); err != nil || !ok {
		return fmt.Errorf("key %q: want milliseconds:process", key)
	}
	*d = endedDoc{Key: key, Format: format, raw: raw, process: process}
	return nil
}

// marks is the document that says which work on the registry is done.
type marks struct {
	Key    string `bson:"_id"`
	Format int    `bson:"v"`
	// Samples is the time before which ended processes have no samples.
	Samples time.Time `bson:"samples,omitempty"`
	// Records is the time before which records of ended processes may be deleted.
	Records time.Time `bson:"records,omitempty"`
}

const marksKey = "registry"

// readMarks returns the marks, or zero marks if there are none.
func (r *Registry) readMarks(ctx context.Context) (marks, error) {
	m, err := getDoc[marks](ctx, r.store, registryRecords, marksKey)
	return m, unlessNotFound(err)
}

// mark stores m. If this overwrites a later mark of another program, the next
// [Registry.Prune] only looks at some processes again.
func (r *Registry) mark(ctx context.Context, m marks) error {
	m.Key, m.Format = marksKey, format
	_, err := r.store.Insert(ctx, registryRecords, m)
	if errors.Is(err, store.ErrDuplicate) {
		err = r.store.Replace(ctx, registryRecords, m)
	}
	if err != nil {
		err = fmt.Errorf("registry: write to %s: %w", registryRecords, err)
	}
	return err
}

// hostDoc is an entry in the index of processes by host and pid. Its key is the process
// value that a driver of the classic layout would use in the process, a colon, and the key
// of the record.
type hostDoc struct {
	Key    string `bson:"_id"`
	Format int    `bson:"v"`
	Host   string `bson:"host"`
}

// hostKey returns the key of the hostDoc of p, or "" if the host is not known.
func hostKey(p *Process) string {
	if p.Host == "" {
		return ""
	}
	return classic.Value(p.Host, p.GPID.PID()) + ":" + processKey(p.GPID, p.Block)
}
