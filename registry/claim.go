package registry

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/store"
)

// maxDraws bounds how often a taken block is followed by another draw. Among a
// million claimed blocks, one draw in 4,000 is taken.
const maxDraws = 1000

// errTaken means that a block belongs to another member.
var errTaken = errors.New("block is taken")

// drawBlock returns a random block. The first, 00000000, is left out: it is what
// bounds of time ranges carry.
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

// claimAny claims a block that no member ever had, and in which nobody ever
// adopted a value, for the given member.
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

// claim inserts h under its unique key. The error wraps errTaken if the block is
// another member's.
func claim(ctx context.Context, s store.Store, h holding) error {
	_, err := s.Insert(ctx, values, h)
	if errors.Is(err, store.ErrDuplicate) {
		// It may be our own, if the answer to an earlier try was lost.
		var held holding
		if held, err = get[holding](ctx, s, values, h.Key); err == nil && held.Member != h.Member {
			err = errTaken
		}
	}
	if err != nil {
		return fmt.Errorf("registry: claim block %s: %w", h.Key, err)
	}
	return nil
}

// giveUpAdopted reports whether a value in the claimed block h was ever adopted.
// If so, the block stays claimed, so that nobody draws it again, but for no use.
// Adopters insert first and then look for a claim, and claimers do the same the
// other way round, so that one of the two sees the other.
func giveUpAdopted(ctx context.Context, s store.Store, h holding) (bool, error) {
	n, err := s.Count(ctx, values, valueRange(h.Key))
	if err == nil && n > 1 {
		h.Idle = true
		err = s.Replace(ctx, values, h)
	}
	if err != nil {
		return false, fmt.Errorf("registry: look who adopted values of block %s: %w", h.Key, err)
	}
	return n > 1, nil
}

// get reads one document.
func get[T any](ctx context.Context, s store.Store, collection, k string) (doc T, err error) {
	raw, err := s.Get(ctx, collection, key(k))
	if err == nil {
		doc, err = decode[T](raw, collection)
	}
	return doc, err
}

func decode[T any](raw bson.Raw, collection string) (doc T, err error) {
	if err := bson.Unmarshal(raw, &doc); err != nil {
		return doc, fmt.Errorf("registry: read document of %s: %w", collection, err)
	}
	return doc, nil
}
