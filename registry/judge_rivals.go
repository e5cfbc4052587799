package registry

import (
	"context"
	"errors"
	"slices"

	"github.com/oidkit/oid/store"
)

// holder returns the process to which cl belongs, from its record or, if that was pruned,
// from the claim. recorded is false if there is neither, because the process was
// interrupted after it claimed its block.
func (r *Registry) holder(ctx context.Context, cl *claim) (s Status, recorded bool, err error) {
	p, err := r.process(ctx, cl.Process)
	switch {
	case err == nil:
		s, err = r.status(ctx, p)
		return s, true, err
	case !errors.Is(err, store.ErrNotFound):
		return s, false, err
	case cl.Pruned == nil:
		return s, false, nil
	}
	return r.judge(cl.Pruned, func() *Process { return nil }), true, nil
}

// rivals returns the other processes that share one of p's values, or a part of it, and may
// be alive, or nil. complete reports whether p has a claim for each of its values. claims
// must contain all claims of these values.
func (r *Registry) rivals(ctx context.Context, claims claimsByBlock, p *Process) (found *CollisionError, complete bool, err error) {
	complete = true
	var seen []MemberKey // a rival may have claimed several values
	for _, value := range p.values() {
		own := false
		for _, cl := range claims.holders(value) {
			if cl.of(p.Member) {
				own = true
				continue
			}
			// One that has only claimed its block so far looks for rivals itself.
			s, _, err := r.holder(ctx, cl)
			if err != nil {
				return nil, false, err
			}
			if !s.State.mayLive() || p.sameProcess(&s.Process) {
				continue
			}
			if found == nil {
				found = &CollisionError{Value: value}
			}
			if k := s.Key(); !slices.Contains(seen, k) {
				seen, found.Others = append(seen, k), append(found.Others, s.GPID)
			}
		}
		complete = complete && own
	}
	return found, complete, nil
}

// collision returns a [*CollisionError] if p has rivals.
func (r *Registry) collision(ctx context.Context, p *Process) error {
	claims, err := r.claims(ctx, p.values())
	if err != nil {
		return err
	}
	collision, _, err := r.rivals(ctx, claims, p)
	if err == nil && collision != nil {
		err = collision
	}
	return err
}
