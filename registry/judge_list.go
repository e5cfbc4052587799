package registry

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strings"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/store"
)

// ErrCursor means that [Query].After cannot be the [Page].Next of an earlier page of the same
// query.
var ErrCursor = errors.New("registry: invalid cursor")

// Query selects processes for [Registry.List] and [Registry.All]. A process must match
// every field that is set. The zero Query selects every process.
type Query struct {
	// States selects processes in one of these states. If these are only Alive and Late,
	// dead and ended processes are not read.
	States []State
	// Name and Host must match exactly.
	Name, Host string
	// Labels selects processes that have all of these labels. They may have others too. A name
	// may also be that of a field, see [Process.Attribute].
	Labels map[string]string
	// Addr is the ip:port of the process's GPID.
	Addr netip.AddrPort
	// GPID selects the process with this gpid, which is one run of a program.
	GPID gpid.GPID
	// Search selects processes that contain this text in their name, host, GPID, version,
	// process value or a label. A label is name=value, and the name may also be that of a
	// field, see [Process.Attribute]. Upper and lower case do not matter. A UUID selects the
	// process with this service.instance.id.
	Search string

	// Limit is the largest number of processes of a page. Default: 100.
	Limit int
	// After is [Page].Next of the previous page. Default: the first page.
	After string

	unrivalled bool // leave out Status.Rivals
}

// Page is one page of the processes that a query selects. Their order depends on the query.
//
// If [Query].States is empty, or [Query].Addr or GPID is set, all processes are ordered by the
// text of their address and then by start time.
//
// Otherwise the processes come from two lists. The living list contains Alive and Late
// processes, and Dead ones until a [Registry.Sweep] moves them to the other list. It is
// ordered by [Process].Block, smallest first. The ended list contains the Ended and the other
// Dead processes. It is ordered by the time of the last heartbeat, latest first. If States
// contains Alive or Late, the living list comes first; otherwise the ended list comes first.
type Page struct {
	Processes []Status
	// Next is the cursor of the next page. It is empty if this is the last page. A page that
	// is not the last may have fewer processes than the limit, or none, because a call reads
	// a bounded number of records.
	Next string
}

// maxCandidates bounds the number of records that are read together.
const maxCandidates = 1000

// Sources of processes. A cursor is the byte of a source and a key in it.
const (
	fromRecords = 'p'
	fromLiving  = 'l'
	fromEnded   = 'e'
)

// sources returns the sources that contain the processes of q, in the order of the pages.
func (q *Query) sources() []byte {
	alive := slices.Contains(q.States, Alive) || slices.Contains(q.States, Late)
	over := slices.Contains(q.States, Dead) || slices.Contains(q.States, Ended)
	switch {
	case q.Addr.IsValid() || !q.GPID.IsZero() || len(q.States) == 0:
		return []byte{fromRecords}
	case !over:
		return []byte{fromLiving}
	case alive:
		return []byte{fromLiving, fromEnded}
	}
	return []byte{fromEnded, fromLiving} // crashed ones may still be among the living
}

// selects reports whether p matches q, except for the state.
func (q *Query) selects(p *Process) bool {
	for name, value := range q.Labels {
		if has, ok := p.Attribute(name); !ok || has != value {
			return false
		}
	}
	return (q.Name == "" || p.Name == q.Name) && (q.Host == "" || p.Host == q.Host) && (!q.Addr.IsValid() || p.GPID.Addr() == q.Addr) &&
		(q.GPID.IsZero() || p.GPID == q.GPID) && (q.Search == "" || p.mentions(strings.ToLower(q.Search)))
}

// mentions reports whether one of the texts of p contains text, which must be in lower
// case.
func (p *Process) mentions(text string) bool {
	texts := []string{p.Name, p.Host, p.GPID.String(), p.Version, p.Value}
	for name, value := range p.Labels {
		texts = append(texts, name+"="+value)
	}
	if name, _, ok := strings.Cut(text, "="); ok {
		if value, ok := p.Attribute(name); ok {
			texts = append(texts, name+"="+value)
		}
	}
	return len(text) == 36 && text == p.InstanceID() || slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), text) })
}

// List returns a page of the processes that q selects.
func (r *Registry) List(ctx context.Context, q Query) (Page, error) {
	if q.Limit <= 0 {
		q.Limit = 100
	}
	sources, after := q.sources(), ""
	if q.After != "" {
		i := slices.Index(sources, q.After[0])
		if i < 0 {
			return Page{}, fmt.Errorf("%w: %q", ErrCursor, q.After)
		}
		sources, after = sources[i:], q.After[1:]
	}
	var out Page
	limit := min(q.Limit+1, maxCandidates)
	for read := 0; len(sources) > 0; {
		found, err := r.candidates(ctx, &q, sources[0], after, limit)
		if err != nil {
			return out, err
		}
		judged, err := r.judgeAll(ctx, &q, found)
		if err != nil {
			return out, err
		}
		for i, s := range judged {
			after = found[i].key
			if s == nil {
				continue
			}
			if len(out.Processes) == q.Limit {
				return out, nil // Next is set: there are more
			}
			out.Processes = append(out.Processes, *s)
			out.Next = string(sources[0]) + after
		}
		if read += len(found); len(found) < limit {
			sources, after = sources[1:], ""
		}
		if read >= r.maxRead && len(sources) > 0 {
			out.Next = string(sources[0]) + after
			return out, nil
		}
	}
	out.Next = ""
	return out, nil
}

// All returns the processes of all pages of q. Several processes at one address show
// restarts. Several may have one GPID, because a program may register more than once and
// anybody can send any GPID for a remote process. The first error ends the sequence.
func (r *Registry) All(ctx context.Context, q Query) iter.Seq2[Status, error] {
	q.Limit = maxCandidates
	return func(yield func(Status, error) bool) {
		for {
			page, err := r.List(ctx, q)
			for _, s := range page.Processes {
				if !yield(s, nil) {
					return
				}
			}
			if err != nil {
				yield(Status{}, err)
			}
			if q.After = page.Next; err != nil || q.After == "" {
				return
			}
		}
	}
}

// CountLiving returns how many processes are alive or late, including those that have died
// since the last [Registry.Sweep].
func (r *Registry) CountLiving(ctx context.Context) (int64, error) {
	n, err := r.store.Count(ctx, livingRecords, store.Range{})
	if err != nil {
		err = fmt.Errorf("registry: count %s: %w", livingRecords, err)
	}
	return n, err
}

// listed is an entry of a source. The process is nil if the entry is outdated.
type listed struct {
	key     string
	process *Process
}

// candidates reads the next entries of a source.
func (r *Registry) candidates(ctx context.Context, q *Query, source byte, after string, limit int) ([]listed, error) {
	find := store.Query{Limit: limit, Descending: source == fromEnded}
	if after != "" {
		k, err := store.StringKey(after)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCursor, err)
		}
		find.After = k
	}
	var out []listed
	var docs []*record
	var err error
	switch source {
	case fromRecords:
		switch {
		case !q.GPID.IsZero():
			find.Range = runRange(q.GPID)
		case q.Addr.IsValid():
			find.Range = addrRange(q.Addr)
		}
		for doc, err := range findDocs[record](ctx, r.store, processRecords, find) {
			if err != nil {
				return nil, err
			}
			docs, out = append(docs, doc), append(out, listed{key: doc.Key})
		}
	case fromLiving:
		return r.livingCandidates(ctx, find)
	case fromEnded:
		var keys []string
		for doc, err := range findDocs[endedDoc](ctx, r.store, endedRecords, find) {
			if err != nil {
				return nil, err
			}
			keys, out = append(keys, doc.process), append(out, listed{key: doc.Key})
		}
		if _, docs, err = getMany[record](ctx, r.store, processRecords, keys); err != nil {
			return nil, err
		}
		for i, doc := range docs {
			if doc != nil && (!doc.Final || endedKey(doc.Last.Time, doc.Key) != out[i].key) {
				docs[i] = nil // it is alive, or another key is the true one
			}
		}
	}
	found, err := r.withLiving(ctx, docs)
	for i, p := range found {
		out[i].process = p
	}
	return out, err
}

func (r *Registry) livingCandidates(ctx context.Context, find store.Query) (out []listed, err error) {
	var found []storedProcess
	for l, err := range findDocs[living](ctx, r.store, livingRecords, find) {
		if err != nil {
			return nil, err
		}
		found, out = append(found, storedProcess{living: l}), append(out, listed{key: l.key})
	}
	err = r.readRecords(ctx, found)
	for i, f := range found {
		if f.record != nil {
			out[i].process = &f.record.Process
		}
	}
	return out, err
}

// judgeAll returns the status of each process that q selects, and nil for the others.
func (r *Registry) judgeAll(ctx context.Context, q *Query, found []listed) ([]*Status, error) {
	out := make([]*Status, len(found))
	var places []int
	var selected []*Process
	for i, c := range found {
		if c.process != nil && q.selects(c.process) {
			places, selected = append(places, i), append(selected, c.process)
		}
	}
	judged, err := r.statuses(ctx, selected)
	if err != nil {
		return nil, err
	}
	var alive []*Status
	var used []string
	for i := range judged {
		s := &judged[i]
		if len(q.States) > 0 && !slices.Contains(q.States, s.State) {
			continue
		}
		if out[places[i]] = s; s.State.mayLive() && !q.unrivalled {
			alive, used = append(alive, s), append(used, s.values()...)
		}
	}
	claims, err := r.claims(ctx, used)
	if err != nil {
		return nil, err
	}
	return out, inParallel(len(alive), func(i int) error {
		collision, _, err := r.rivals(ctx, claims, &alive[i].Process)
		if collision != nil {
			alive[i].Rivals = collision.Others
		}
		return err
	})
}

// ParseAddr reads an address for [Query]: an ip:port, or :port of this host. It accepts the
// addresses that [gpid.ParseAddr] reads, and loopback and unspecified ones. The error wraps
// [gpid.ErrInvalid].
func ParseAddr(text string) (netip.AddrPort, error) {
	if a, err := netip.ParseAddrPort(text); err == nil {
		return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()), nil // also one that each host has
	}
	return gpid.ParseAddr(text)
}

// maxRead bounds the number of records that a call of List reads.
const maxRead = 20_000
