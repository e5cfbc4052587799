package registry

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/classic"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// maxDraws bounds the number of draws until a free block is found. Among a million
// claimed blocks, one draw in 4,000 is taken.
const maxDraws = 1000

// errTaken means that a block belongs to another process.
var errTaken = errors.New("block is taken")

// drawBlock returns a random block other than 00000000, which is the block of the
// bounds of time ranges.
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

// claimAny claims a block that no process ever had, and in which no value was ever
// adopted, for the process of h. Beside an error of the store it returns the block that it
// tried to claim, which may be claimed.
func claimAny(ctx context.Context, s store.Store, random io.Reader, h holding, g gpid.GPID) (block string, err error) {
	for range maxDraws {
		if block, err = drawBlock(random); err != nil {
			return block, err
		}
		h.Key, h.Process = block, processKey(g, block)
		if err = insertClaim(ctx, s, h); errors.Is(err, errTaken) {
			continue
		}
		if err == nil && !h.Idle {
			var adopted bool
			if adopted, err = giveUpAdopted(ctx, s, h); adopted {
				continue
			}
		}
		return block, err
	}
	return "", fmt.Errorf("registry: claim a block: %d draws in a row were taken", maxDraws)
}

// insertClaim inserts h under its unique key. The error wraps errTaken if the block
// belongs to another process: a process without ids then draws another block, and one
// that has created ids with it, offline or before its claim was lost, keeps the block as
// an adopted value, see [recorder.claimBlock].
func insertClaim(ctx context.Context, s store.Store, h holding) error {
	h.Format = format
	_, err := s.Insert(ctx, claimRecords, h)
	if errors.Is(err, store.ErrDuplicate) {
		// It may be the process's own, if the reply to an earlier attempt was lost.
		var held holding
		if held, err = getDoc[holding](ctx, s, claimRecords, h.Key); err == nil && !held.of(h.Member) {
			err = errTaken
		}
	}
	if err != nil {
		return fmt.Errorf("registry: claim block %s: %w", h.Key, err)
	}
	return nil
}

// giveUpAdopted reports whether a value in the claimed block h was ever adopted. If
// so, the block stays claimed but idle, so that it is not drawn again. Adopting
// inserts the value and then looks for a claim; claiming inserts the claim and then
// looks for values: so at least one of two that do it at once sees the other.
func giveUpAdopted(ctx context.Context, s store.Store, h holding) (bool, error) {
	n, err := s.Count(ctx, claimRecords, valueRange(h.Key))
	if err == nil && n > 1 {
		h.Idle, h.Format = true, format
		err = s.Replace(ctx, claimRecords, h)
	}
	if err != nil {
		return false, fmt.Errorf("registry: look for adopted values in block %s: %w", h.Key, err)
	}
	return n > 1, nil
}

// Digits at the beginning of a process value.
const (
	blockDigits   = 8
	machineDigits = 6 // in the classic layout
)

// ClaimedValues is by which process values ids could be traced when it was read: those of all
// blocks in which a value was ever claimed, and those of all recorded hosts. Any number of
// goroutines may share it. The nil ClaimedValues knows nothing.
type ClaimedValues struct {
	begins map[string]struct{} // of process values: blocks, and machine bytes of the classic layout
}

// ClaimedValues reads by which process values ids can be traced, for programs that trace many ids
// that no process has created. It returns nil if the registry has more than most claims, or
// more than most processes whose host is known.
func (r *Registry) ClaimedValues(ctx context.Context, most int) (*ClaimedValues, error) {
	c := &ClaimedValues{map[string]struct{}{}}
	if host, err := os.Hostname(); err == nil {
		c.begins[classic.Machine(host)] = struct{}{}
	}
	for collection, digits := range map[string]int{claimRecords: blockDigits, hostRecords: machineDigits} {
		n := 0
		for raw, err := range r.store.Find(ctx, collection, store.Query{Limit: most + 1}) {
			if err != nil {
				return nil, fmt.Errorf("registry: read %s: %w", collection, err)
			}
			if n++; n > most {
				return nil, nil
			}
			key, _ := raw.Lookup("_id").StringValueOK()
			c.begins[strings.Clone(key[:min(len(key), digits)])] = struct{}{}
		}
	}
	return c, nil
}

// Len returns how many blocks and hosts there were.
func (c *ClaimedValues) Len() int {
	if c == nil {
		return 0
	}
	return len(c.begins)
}

// Trace returns what [Registry.Trace] would have returned when c was read, if that needs
// no more than c knows: the trace of an id that is Unknown, and of no recorded host.
// Otherwise ok is false.
func (c *ClaimedValues) Trace(id objectid.ID) (t Trace, ok bool) {
	if c == nil {
		return t, false
	}
	value := valueOf(id)
	_, block := c.begins[value[:blockDigits]]
	_, host := c.begins[value[:machineDigits]]
	return unknown(id), !block && !host
}

// register claims a block and stores which value the process has.
func (c *recorder) register(ctx context.Context) error {
	if c.registered { // before the claim shows: others may have had the block meanwhile
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
	adopted := slices.Clone(p.adoptions())
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
	c.claimed, c.changed = true, true
	return nil
}

// claimBlock claims the block that the process has drawn, or any. A process that
// registered offline may have created ids with a block that belongs to another: then
// that block becomes its adopted value, which shows as a collision, and it claims
// another one for its record.
func (c *recorder) claimBlock(ctx context.Context) error {
	p := c.process()
	h := holding{Key: p.Block, Process: processKey(p.GPID, p.Block), Member: p.Member, Idle: p.adopted()}
	if p.Block != "" {
		if err := insertClaim(ctx, c.registry.store, h); !errors.Is(err, errTaken) {
			return err
		}
	}
	h.Idle = p.Value != ""
	block, err := claimAny(ctx, c.registry.store, c.random, h, p.GPID)
	if err == nil && c.registered {
		c.left, c.stored = append(c.left, p.Key()), nil
	}
	if err == nil && p.Value == "" { // claimAny has looked for others that have the value
		c.unchecked = 0
	}
	if err == nil || p.Block == "" && block != "" { // the claim that failed may be stored
		c.update(func(p *Process) { p.Block, p.Value = block, cmp.Or(p.Value, block) })
	}
	return err
}

// claimValue stores that a process is recorded with an adopted value from now on.
func (r *Registry) claimValue(ctx context.Context, p *Process, a *Adopted, now time.Time) error {
	a.Confirmed = now
	h := holding{Key: adoptionKey(a.Value, a.From, p.Block), Format: format, Process: processKey(p.GPID, p.Block), Member: p.Member}
	if !a.EvidenceID.IsZero() {
		h.Adopted = a
	}
	if _, err := r.store.Insert(ctx, claimRecords, h); err != nil && !errors.Is(err, store.ErrDuplicate) {
		return fmt.Errorf("registry: adopt value %s: %w", a.Value, err)
	}
	return nil
}

// putHost stores the hostDoc of p.
func (r *Registry) putHost(ctx context.Context, p *Process) error {
	k := hostKey(p)
	if k == "" {
		return nil
	}
	if _, err := r.store.Insert(ctx, hostRecords, hostDoc{k, format, p.Host}); err != nil && !errors.Is(err, store.ErrDuplicate) {
		return fmt.Errorf("registry: store host of %v: %w", p.GPID, err)
	}
	return nil
}

// deleteLeft deletes what is stored of the process under blocks that it gave up.
func (c *recorder) deleteLeft(ctx context.Context) error {
	for ; len(c.left) > 0; c.left = c.left[1:] {
		k := string(c.left[0])
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
