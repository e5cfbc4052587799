package registry

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

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

// claimsByBlock are the claims of blocks, and of the adopted values in them, by block.
type claimsByBlock map[string][]*holding

// fewClaims is how many claims most blocks have at most.
const fewClaims = 4

// claims reads the claims of the blocks of values of 8 or 10 digits.
func (r *Registry) claims(ctx context.Context, used []string) (claimsByBlock, error) {
	all := claimsByBlock{}
	var blocks []string
	var ranges []store.Range
	for _, value := range used {
		block := value[:8]
		if _, there := all[block]; !there {
			all[block] = nil
			blocks, ranges = append(blocks, block), append(ranges, valueRange(block))
		}
	}
	found, err := findMany[holding](ctx, r.store, claimRecords, ranges, fewClaims)
	if err != nil {
		return nil, err
	}
	for i, holders := range found {
		all[blocks[i]] = holders
	}
	return all, nil
}

// holders returns the claims of a value of 8 or 10 digits.
func (c claimsByBlock) holders(value string) (found []*holding) {
	for _, h := range c[value[:8]] {
		if held, _, _ := strings.Cut(h.Key, ":"); !h.Idle && overlap(held, value) {
			found = append(found, h)
		}
	}
	return found
}

// has reports whether p has claimed its block.
func (c claimsByBlock) has(p *Process) bool {
	return slices.ContainsFunc(c[p.Block], func(h *holding) bool { return h.Key == p.Block && h.of(p.Member) })
}

// overlap reports whether two values, of 8 or 10 digits, have ids in common.
func overlap(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

// holder returns the process of h, or its essence if it was pruned. recorded is
// false if there is neither: the process has only claimed its block.
func (r *Registry) holder(ctx context.Context, h *holding) (s Status, recorded bool, err error) {
	p, err := r.load(ctx, h.Process)
	switch {
	case err == nil:
		s, err = r.status(ctx, p)
		return s, true, err
	case !errors.Is(err, store.ErrNotFound):
		return s, false, err
	case h.Pruned == nil:
		return s, false, nil
	}
	return r.judge(h.Pruned, func() *Process { return nil }), true, nil
}

// rivals returns the collision of p with the other processes that have one of its
// values, or a part of it, and may be alive, or nil. claimed reports whether p itself
// has claimed all of its values. It is given the claims of all values of p.
func (r *Registry) rivals(ctx context.Context, claims claimsByBlock, p *Process) (found *CollisionError, claimed bool, err error) {
	claimed = true
	var seen []MemberKey // a rival may have claimed several values
	for _, value := range p.uses() {
		own := false
		for _, h := range claims.holders(value) {
			if h.of(p.Member) {
				own = true
				continue
			}
			// One that has only claimed its block so far looks for rivals itself.
			s, _, err := r.holder(ctx, h)
			if err != nil {
				return nil, false, err
			}
			if !s.State.mayLive() || p.sameMaker(&s.Process) {
				continue
			}
			if found == nil {
				found = &CollisionError{Value: value}
			}
			if k := s.Key(); !slices.Contains(seen, k) {
				seen, found.Others = append(seen, k), append(found.Others, s.GPID)
			}
		}
		claimed = claimed && own
	}
	return found, claimed, nil
}

// collision returns the collision of p, or nil.
func (r *Registry) collision(ctx context.Context, p *Process) error {
	claims, err := r.claims(ctx, p.uses())
	if err != nil {
		return err
	}
	collision, _, err := r.rivals(ctx, claims, p)
	if err == nil && collision != nil {
		err = collision
	}
	return err
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
