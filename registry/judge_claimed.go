package registry

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/oidkit/oid/internal/classic"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
)

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
