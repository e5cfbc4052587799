package registry

import (
	"context"
	"fmt"
	"strings"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

// ClaimedValues is by which process values ids could be traced when it was read: the blocks
// in which a value was ever claimed. Any number of goroutines may share it. The nil
// ClaimedValues knows nothing.
type ClaimedValues struct{ blocks map[string]struct{} }

// ClaimedValues reads by which process values ids can be traced, for programs that trace many
// ids that no process has created. It returns nil if the registry has more than most claims.
func (r *Registry) ClaimedValues(ctx context.Context, most int) (*ClaimedValues, error) {
	blocks, n := map[string]struct{}{}, 0
	for raw, err := range r.store.Find(ctx, claimRecords, store.Query{Limit: most + 1}) {
		if err != nil {
			return nil, fmt.Errorf("registry: read %s: %w", claimRecords, err)
		}
		if n++; n > most {
			return nil, nil
		}
		key, _ := raw.Lookup("_id").StringValueOK()
		blocks[strings.Clone(key[:min(len(key), 8)])] = struct{}{}
	}
	return &ClaimedValues{blocks}, nil
}

// Len returns how many blocks there were.
func (c *ClaimedValues) Len() int {
	if c == nil {
		return 0
	}
	return len(c.blocks)
}

// Trace returns what [Registry.Trace] would have returned when c was read, if that needs
// no more than c knows: the trace of an id that is Unknown. Otherwise ok is false.
func (c *ClaimedValues) Trace(id objectid.ID) (t Trace, ok bool) {
	if c == nil {
		return t, false
	}
	_, claimed := c.blocks[blockOf(id)]
	return unknown(id), !claimed
}
