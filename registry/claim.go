package registry

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

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
// adopted, for the process of h.
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
	return block, fmt.Errorf("registry: claim a block: %d draws in a row were taken", maxDraws)
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

// claimedBlock reports whether p has the claim of its block.
func (r *Registry) claimedBlock(ctx context.Context, p *Process) (bool, error) {
	h, err := get[holding](ctx, r.store, values, p.Block)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err == nil {
		err = h.expand()
	}
	return err == nil && h.of(p.Member), err
}
