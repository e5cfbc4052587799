package registry

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/store"
)

// claimAll claims the block and the adopted values of the process, and stores its host. It
// may be called again after an error.
func (c *recorder) claimAll(ctx context.Context) error {
	if c.recordStored {
		// The claim was lost, and another process may have had the block since. The record says
		// so before the claim is stored again: otherwise a trace in between would be certain.
		c.update(func(p *Process) { p.Confirmed = p.Last.Time })
		if err := c.putRecord(ctx); err != nil {
			return err
		}
	}
	if err := c.claimBlock(ctx); err != nil {
		return err
	}
	p := c.process()
	if err := c.registry.putHost(ctx, &p); err != nil {
		return err
	}
	confirmed := maxTime(p.Last.Time, wall(c.registry.options.Now).UTC().Truncate(time.Millisecond)) // the heartbeat may be old
	adopted := slices.Clone(p.adoptedValues())
	for i := range adopted {
		if err := c.registry.claimValue(ctx, &p, &adopted[i], confirmed); err != nil {
			return err
		}
	}
	c.update(func(p *Process) {
		if len(p.Adopted) > 0 || p.adopted() {
			p.Adopted = adopted
		}
		p.Confirmed = confirmed
		if p.Value == p.Block && p.Last.Count == 1 {
			p.Confirmed = p.From
		}
	})
	c.claimed, c.recordDue = true, true
	return nil
}

// claimBlock claims the block that the process has drawn before, or draws one.
//
// If the answer to a claim is lost, the block may be claimed or not. The process keeps the
// block and claims it again with its next heartbeat. insertClaim then finds out to whom it
// belongs.
//
// The process may have created ids with that block: because it registered offline, or
// because its claim was lost. If the block now belongs to another process, it therefore
// becomes the adopted value of this one, which shows as a collision, and this process claims
// another block for its record. If somebody has adopted a value in the block, the process
// keeps it, and check reports the collision.
//
// A process that registers again after a copy creates no ids with the new block before its
// record is stored. After an error it draws another block.
func (c *recorder) claimBlock(ctx context.Context) error {
	p := c.process()
	if c.blockUnused && !c.recordStored && !p.adopted() {
		p.Block, p.Value = "", ""
	}
	cl := claim{Key: p.Block, Process: processKey(p.GPID, p.Block), Member: p.Member, Idle: p.adopted() || p.Value != p.Block}
	if p.Block != "" {
		if err := c.registry.insertClaim(ctx, cl); !errors.Is(err, errTaken) {
			return err
		}
	}
	cl.Idle = p.Value != ""
	block, err := c.registry.claimAny(ctx, c.random, cl, p.GPID)
	switch {
	case err == nil:
		if c.recordStored {
			c.abandoned, c.stored = append(c.abandoned, p.Key()), nil
		}
		if p.Value == "" { // claimAny has looked for others that have the value, so check need not
			c.sinceCheck = 0
		}
	case p.Block != "" || block == "":
		return err // the process keeps the block it had, if any
	default:
		// The claim that failed may be stored: the process keeps this block for its next attempt.
	}
	c.update(func(now *Process) { now.Block, now.Value = block, cmp.Or(p.Value, block) })
	return err
}

// maxDraws bounds the draws until a free block is found. With a million claimed blocks, one
// draw in 4,000 is taken.
const maxDraws = 1000

// claimAny claims a block for the process of cl that no process ever had. Unless cl is idle,
// no value was ever adopted in the block either. If the store fails, claimAny returns the
// error and the block that it tried last: its claim may be stored, and values in it may be
// adopted.
func (r *Registry) claimAny(ctx context.Context, random io.Reader, cl claim, g gpid.GPID) (block string, err error) {
	for range maxDraws {
		if block, err = drawBlock(random); err != nil {
			return block, err
		}
		cl.Key, cl.Process = block, processKey(g, block)
		if err = r.insertClaim(ctx, cl); errors.Is(err, errTaken) {
			continue
		}
		if err == nil && !cl.Idle {
			var adopted bool
			if adopted, err = giveUpAdopted(ctx, r.store, cl); adopted {
				continue
			}
		}
		return block, err
	}
	return "", fmt.Errorf("registry: claim a block: %d randomly drawn blocks in a row belong to other processes", maxDraws)
}

// drawBlock returns a random block other than 00000000, which bounds of time ranges have.
func drawBlock(random io.Reader) (block string, err error) {
	var b [4]byte
	for b == [4]byte{} && err == nil {
		_, err = io.ReadFull(random, b[:])
	}
	if err != nil {
		return "", fmt.Errorf("registry: draw a block: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// errTaken means that a block belongs to another process.
var errTaken = errors.New("block belongs to another process")

// insertClaim inserts cl under its unique key. An existing claim is a success if it has the
// member of cl: then the answer to an earlier insert was lost. Otherwise the error wraps
// errTaken, or [ErrFormat] if the registry has another format: this insert is the first write
// of every process. See [recorder.claimBlock] for what follows.
func (r *Registry) insertClaim(ctx context.Context, cl claim) error {
	err := r.checkFormat(ctx)
	if cl.Format = format; err == nil {
		_, err = r.store.Insert(ctx, claimRecords, cl)
	}
	if errors.Is(err, store.ErrDuplicate) {
		var found claim
		if found, err = getDoc[claim](ctx, r.store, claimRecords, cl.Key); err == nil && !found.of(cl.Member) {
			err = errTaken
		}
	}
	if err == nil || errors.Is(err, ErrFormat) {
		return err
	}
	return fmt.Errorf("registry: claim block %s: %w", cl.Key, err)
}

// giveUpAdopted reports whether a value in the claimed block of cl was ever adopted. If so,
// the caller must not use the block, even if the store fails meanwhile. The block stays
// claimed, so that it is not drawn again, and is marked as idle. Adopting inserts the
// value and then looks for a claim; claiming inserts the claim and then looks for values.
// If both happen at once, at least one of them therefore sees the other.
func giveUpAdopted(ctx context.Context, s store.Store, cl claim) (bool, error) {
	n, err := s.Count(ctx, claimRecords, valueRange(cl.Key))
	if err != nil {
		return false, fmt.Errorf("registry: look for adopted values in block %s: %w", cl.Key, err)
	}
	if n <= 1 {
		return false, nil
	}
	cl.Idle, cl.Format = true, format
	_ = s.Replace(ctx, claimRecords, cl) // if it fails, readers find no process with the block
	return true, nil
}

// claimValue claims an adopted value for a process from now on.
func (r *Registry) claimValue(ctx context.Context, p *Process, a *Adopted, now time.Time) error {
	a.Confirmed = now
	cl := claim{Key: adoptionKey(a.Value, a.From, p.Block), Format: format, Process: processKey(p.GPID, p.Block), Member: p.Member}
	if !a.EvidenceID.IsZero() {
		cl.Adopted = a
	}
	return r.insertOnce(ctx, claimRecords, cl)
}

// putHost stores the hostDoc of p.
func (r *Registry) putHost(ctx context.Context, p *Process) error {
	if k := hostKey(p); k != "" {
		return r.insertOnce(ctx, hostRecords, hostDoc{k, format, p.Host})
	}
	return nil
}

// insertOnce inserts a document unless it is stored already.
func (r *Registry) insertOnce(ctx context.Context, collection string, doc any) error {
	if _, err := r.store.Insert(ctx, collection, doc); err != nil && !errors.Is(err, store.ErrDuplicate) {
		return fmt.Errorf("registry: write to %s: %w", collection, err)
	}
	return nil
}

// deleteAbandoned deletes the documents of the process under blocks that it has given up.
func (c *recorder) deleteAbandoned(ctx context.Context) error {
	for ; len(c.abandoned) > 0; c.abandoned = c.abandoned[1:] {
		k := string(c.abandoned[0])
		err := unlessNotFound(c.registry.store.Delete(ctx, livingRecords, storeKey(k)))
		if err == nil {
			err = unlessNotFound(c.registry.store.Delete(ctx, processRecords, storeKey(processKey(c.p.GPID, k[:8]))))
		}
		if err != nil {
			return fmt.Errorf("registry: delete record of %v: %w", c.p.GPID, err)
		}
	}
	return nil
}
