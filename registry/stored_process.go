package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/store"
)

// process returns the process of the record with the key, updated from its living record.
// The error wraps [store.ErrNotFound] if there is no record.
func (r *Registry) process(ctx context.Context, key string) (*Process, error) {
	for again := false; ; again = true {
		doc, err := getDoc[record](ctx, r.store, processRecords, key)
		if err != nil {
			return nil, err
		}
		if doc.Final || again {
			return doc.withoutLiving(), nil
		}
		l, err := getDoc[living](ctx, r.store, livingRecords, livingKey(doc.Block, doc.Member))
		if err == nil {
			l.applyTo(&doc.Process)
			return &doc.Process, nil
		}
		if !errors.Is(err, store.ErrNotFound) { // otherwise the process may have ended in between
			return nil, err
		}
	}
}

// withLiving returns the process of each record, updated from its living record. nil
// records stay nil.
func (r *Registry) withLiving(ctx context.Context, docs []*record) ([]*Process, error) {
	keys := make([]string, len(docs))
	for i, doc := range docs {
		if doc != nil && !doc.Final {
			keys[i] = livingKey(doc.Block, doc.Member)
		}
	}
	_, livings, err := getMany[living](ctx, r.store, livingRecords, keys)
	if err != nil {
		return nil, err
	}
	found := make([]*Process, len(docs))
	for i, doc := range docs {
		switch {
		case doc == nil:
		case doc.Final || livings[i] != nil:
			found[i] = doc.withoutLiving()
			livings[i].applyTo(found[i])
		default:
			if found[i], err = r.process(ctx, doc.Key); unlessNotFound(err) != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// storedProcess is what is stored about a process.
type storedProcess struct {
	living    *living  // or nil
	record    *record  // with what the living record says, or nil
	recordRaw bson.Raw // as it is stored

	err error // see members
}

// key returns the key of the record of a living process.
func (m *storedProcess) key() string { return processKey(m.living.gpid, m.living.block()) }

// readRecords reads the records of living processes, and updates them from their living
// records.
func (r *Registry) readRecords(ctx context.Context, all []storedProcess) error {
	keys := each.Of(all, func(m storedProcess) string { return m.key() })
	raws, docs, err := getMany[record](ctx, r.store, processRecords, keys)
	for i, doc := range docs {
		if all[i].recordRaw, all[i].record = raws[i], doc; doc != nil {
			all[i].living.applyTo(&doc.Process)
		}
	}
	return err
}

// checkRemote returns an error unless m is a remote process that has not ended, and d is nil or a
// valid description.
func (m *storedProcess) checkRemote(d *Description) error {
	switch {
	case m.err != nil:
		return m.err
	case !m.record.Remote:
		return fmt.Errorf("%w: %v", ErrSelfManaged, m.record.GPID)
	case m.record.End != nil:
		return fmt.Errorf("%w: %v", ErrEnded, m.record.GPID)
	case d != nil:
		return checkDescription(d.Name, d.Version, d.Labels)
	}
	return nil
}

// member reads a member. The error wraps [store.ErrNotFound] if the member is not recorded.
func (r *Registry) member(ctx context.Context, k MemberKey) (*storedProcess, error) {
	m := &r.members(ctx, []MemberKey{k})[0]
	return m, m.err
}

// members reads many members with few calls of the store: first the living records, then
// the claims of members without one, and then the records. It sets either err or record of
// each result.
func (r *Registry) members(ctx context.Context, all []MemberKey) []storedProcess {
	found := make([]storedProcess, len(all))
	keys, claims, records := make([]string, len(all)), make([]string, len(all)), make([]string, len(all))
	for i, k := range all {
		if k.valid() {
			keys[i] = string(k)
		}
	}
	_, livings, errs := getEach[living](ctx, r.store, livingRecords, keys)
	for i, l := range livings {
		found[i] = storedProcess{living: l, err: errs[i]}
		switch {
		case errs[i] != nil || keys[i] == "":
		case l == nil:
			claims[i] = keys[i][:8]
		default:
			records[i] = found[i].key()
		}
	}
	_, holders, errs := getEach[claim](ctx, r.store, claimRecords, claims)
	for i, cl := range holders {
		if found[i].err = cmp.Or(found[i].err, errs[i]); cl != nil {
			records[i] = cl.Process // or "" if it is pruned
		}
	}
	raws, docs, errs := getEach[record](ctx, r.store, processRecords, records)
	for i, doc := range docs {
		m := &found[i]
		if m.err = cmp.Or(m.err, errs[i]); m.err != nil {
			continue
		}
		if doc == nil || doc.Process.Key() != all[i] {
			m.err = fmt.Errorf("registry: member %s: %w", all[i], store.ErrNotFound)
			continue
		}
		m.recordRaw, m.record = raws[i], doc
		m.living.applyTo(doc.withoutLiving())
	}
	return found
}

// record is the document that describes a process. While the process lives, its living
// record has what is newer.
type record struct {
	Key    string `bson:"_id"`
	Format int    `bson:"v"`
	// Final is set when the process has no living record any more.
	Final   bool `bson:"final,omitempty"`
	Process `bson:",inline"`
}

func recordOf(p Process) record {
	return record{Key: processKey(p.GPID, p.Block), Format: format, Process: p}
}

// read reads the document from BSON. Numbers of the load that it does not contain are
// unmeasured.
func (d *record) read(raw bson.Raw) error {
	d.Last.Load = noLoad
	return bson.Unmarshal(raw, d)
}

// withoutLiving returns the process as its record alone describes it.
func (d *record) withoutLiving() *Process {
	d.moved = d.Final
	return &d.Process
}
