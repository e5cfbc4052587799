package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/timerange"
)

// timeRange is the flags of the commands that work on a stretch of time.
type timeRange struct{ since, from, to string }

// rangeHelp is the paragraph of --help about these flags.
const rangeHelp = `--since takes a duration up to now (24h, 7d) or a TIME. --from and --to take a
TIME each; what was made at --to or later is left out. Ids know whole seconds, so
--from is rounded down and --to up: nothing in between is missed.
` + timerange.Help

func (r *timeRange) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.since, "since", "", "the stretch up to now: a duration (24h, 7d) or a `TIME`")
	f.StringVar(&r.from, "from", "", "first `TIME`, rounded down to a second")
	f.StringVar(&r.to, "to", "", "`TIME` before which to end, rounded up to a second")
}

// given reports whether any of the flags was used.
func (r *timeRange) given() bool { return *r != timeRange{} }

// parse returns the range that the flags describe: every id if none was used.
// Its errors are usage errors.
func (r *timeRange) parse(now time.Time) (objectid.Range, error) {
	if _, _, err := r.times(now); err != nil {
		return objectid.Range{}, usageError{err}
	}
	ids, err := r.span().Range(now)
	if err != nil {
		return objectid.Range{}, usageError{err}
	}
	return ids, nil
}

func (r *timeRange) span() timerange.Span {
	return timerange.Span{Since: r.since, From: r.from, To: r.to}
}

// times returns the ends of the stretch, nil where it is open.
func (r *timeRange) times(now time.Time) (from, to *time.Time, err error) {
	if r.since != "" && r.from != "" {
		return nil, nil, fmt.Errorf("--since and --from both say where to begin: give one of them")
	}
	from, to, err = r.span().Times(now)
	if err != nil {
		if field, ok := errors.AsType[*timerange.FieldError](err); ok {
			err = fmt.Errorf("--%s: %w", field.Field, field.Err)
		}
		return nil, nil, err
	}
	return from, to, nil
}

// rfc3339 is how every command writes a time.
func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }
