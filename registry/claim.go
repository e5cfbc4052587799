package registry

import (
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

// maxDraws bounds the number of draws until a free block is found. Among a million
// claimed blocks, one draw in 4,000 is taken.
const maxDraws = 1000

// errTaken means that a block belongs to another process.
var errTaken = errors.New("block is taken")

// drawBlock returns a random block other than 00000000, which is the block of the
// bounds of time ranges.
func drawBlock(random io.Reader) ([4]byte, error) {
	for range maxDraws {
		var b [4]byte
		if _, err := io.ReadFull(random, b[:]); err != nil {
			return b, fmt.Errorf("registry: draw a block: %w", err)
		}
		if b != [4]byte{} {
			return b, nil
		}
	}
	return [4]byte{}, fmt.Errorf("registry: draw a block: %d times zero", maxDraws)
}

// claimAny claims a block that no process ever had, and in which no value was ever
// adopted, for the process of h. Beside an error of the store it returns the block that it
// tried to claim, which may be claimed.
func claimAny(ctx context.Context, s store.Store, random io.Reader, h holding, g gpid.GPID) (block [4]byte, err error) {
	for range maxDraws {
		if block, err = drawBlock(random); err != nil {
			return block, err
		}
		h.Key = hex.EncodeToString(block[:])
		h.Process = processKey(g, h.Key)
		if err = claim(ctx, s, h); errors.Is(err, errTaken) {
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
	return [4]byte{}, fmt.Errorf("registry: claim a block: %d draws in a row were taken", maxDraws)
}

// claim inserts h under its unique key. The error wraps errTaken if the block
// belongs to another process.
func claim(ctx context.Context, s store.Store, h holding) error {
	h.Format = format
	_, err := s.Insert(ctx, values, h)
	if errors.Is(err, store.ErrDuplicate) {
		// It may be the process's own, if the reply to an earlier attempt was lost.
		var held holding
		if held, err = get[holding](ctx, s, values, h.Key); err == nil {
			err = held.expand()
		}
		if err == nil && !held.of(h.Member) {
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
	n, err := s.Count(ctx, values, valueRange(h.Key))
	if err == nil && n > 1 {
		h.Idle, h.Format = true, format
		err = s.Replace(ctx, values, h)
	}
	if err != nil {
		return false, fmt.Errorf("registry: look for adopted values in block %s: %w", h.Key, err)
	}
	return n > 1, nil
}

// deleteLeft deletes what is stored of the process under blocks that it gave up.
func (c *recorder) deleteLeft(ctx context.Context) error {
	for ; len(c.left) > 0; c.left = c.left[1:] {
		k := string(c.left[0])
		err := c.registry.store.Delete(ctx, livingRecords, key(k))
		if err == nil || errors.Is(err, store.ErrNotFound) {
			err = c.registry.store.Delete(ctx, processes, key(processKey(c.p.GPID, k[:8])))
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("registry: delete record of %v: %w", c.p.GPID, err)
		}
	}
	return nil
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
		if err := c.claimValue(ctx, &adopted[i], confirmed); err != nil {
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

// claimValue stores that the process is recorded with an adopted value from now on.
func (c *recorder) claimValue(ctx context.Context, a *Adopted, now time.Time) error {
	p := c.process()
	a.Confirmed = now
	h := holding{Key: adoptionKey(a.Value, a.From, p.Block), Format: format, Process: processKey(p.GPID, p.Block), Member: p.Member}
	if !a.Sample.IsZero() {
		h.Adopted = a
	}
	if _, err := c.registry.store.Insert(ctx, values, h); err != nil && !errors.Is(err, store.ErrDuplicate) {
		return fmt.Errorf("registry: adopt value %s: %w", a.Value, err)
	}
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
		if err := claim(ctx, c.registry.store, h); !errors.Is(err, errTaken) {
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
	if err == nil || p.Block == "" && block != [4]byte{} { // the claim that failed may be stored
		c.setBlock(block)
	}
	return err
}

// setBlock gives the process a block, and a value if it has none.
func (c *recorder) setBlock(block [4]byte) {
	c.update(func(p *Process) {
		p.Block = hex.EncodeToString(block[:])
		if p.Value == "" {
			p.Value = p.Block
		}
	})
}
