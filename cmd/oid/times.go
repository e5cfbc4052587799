package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/xhit/go-str2duration/v2"

	"github.com/oidkit/oid/objectid"
)

// timesHelp is the paragraph of --help about what parseTime reads.
const timesHelp = `A TIME is RFC 3339 (2026-11-20T14:00:00+01:00), a date or a date and time
(2026-11-20, 2026-11-20T14:00, in UTC), now, a distance from now (-7d, -36h,
+1h30m; units w d h m s), Unix seconds (1795183200 or @1795183200), or an
ObjectId, which stands for the time in it.`

// timeLayouts without a zone are read as UTC.
var timeLayouts = []string{
	time.RFC3339Nano,
	"2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02T15:04:05.999999999",
	"2006-01-02 15:04:05.999999999",
	"2006-01-02T15:04",
	"2006-01-02 15:04",
	time.DateOnly,
}

// parseTime reads what timesHelp describes. The errors name s and say what is
// wanted.
func parseTime(s string, now time.Time) (time.Time, error) {
	s = strings.TrimSpace(s)
	if s == "now" {
		return now, nil
	}
	if id, err := objectid.Parse(s); err == nil {
		return id.Time(), nil
	}
	if digits, isUnix := strings.CutPrefix(s, "@"); isUnix || isDigits(s) {
		return parseUnix(digits, isUnix)
	}
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		d, err := str2duration.ParseDuration(s)
		if err != nil {
			return time.Time{}, fmt.Errorf("time %q: not a distance such as -7d or +1h30m", s)
		}
		return now.Add(d), nil
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	if _, err := str2duration.ParseDuration(s); err == nil {
		return time.Time{}, fmt.Errorf("time %q: a distance needs a sign: -%s is that long ago, +%s that far ahead", s, s, s)
	}
	return time.Time{}, fmt.Errorf("time %q: want RFC 3339, a date, now, a distance such as -7d, Unix seconds or an ObjectId", s)
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// parseUnix reads Unix seconds. Unless they are marked with an @, they must have
// the length of today's: a shorter number may be meant as a year or as hours, a
// longer one as milliseconds.
func parseUnix(s string, marked bool) (time.Time, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("time %q: not a number of Unix seconds", s)
	}
	if !marked && len(s) != 9 && len(s) != 10 {
		return time.Time{}, fmt.Errorf("time %q: want 9 or 10 digits for Unix seconds; if it is meant so, write @%s", s, s)
	}
	return time.Unix(n, 0).UTC(), nil
}

// timeRange is the flags of the commands that work on a stretch of time.
type timeRange struct{ since, from, to string }

// rangeHelp is the paragraph of --help about these flags.
const rangeHelp = `--since takes a duration up to now (24h, 7d) or a TIME. --from and --to take a
TIME each; what was made at --to or later is left out. Ids know whole seconds, so
--from is rounded down and --to up: nothing in between is missed.
` + timesHelp

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
	from, to, err := r.times(now)
	switch {
	case err != nil:
		return objectid.Range{}, usageError{err}
	case from != nil && to != nil && !from.Before(*to):
		return objectid.Range{}, usagef("the range is empty: it ends at %s and begins at %s", rfc3339(*to), rfc3339(*from))
	case from != nil && to != nil:
		return objectid.Between(*from, *to), nil
	case from != nil:
		return objectid.Since(*from), nil
	case to != nil:
		return objectid.Until(*to), nil
	default:
		return objectid.Range{}, nil
	}
}

// times returns the ends of the stretch, nil where it is open.
func (r *timeRange) times(now time.Time) (from, to *time.Time, err error) {
	read := func(flag, s string) *time.Time {
		if s == "" || err != nil {
			return nil
		}
		t, parseErr := parseTime(s, now)
		if parseErr != nil {
			err = fmt.Errorf("--%s: %w", flag, parseErr)
		}
		return &t
	}
	if r.since != "" && r.from != "" {
		return nil, nil, fmt.Errorf("--since and --from both say where to begin: give one of them")
	}
	if ago, durationErr := str2duration.ParseDuration(r.since); durationErr == nil && !isDigits(r.since) {
		t := now.Add(-ago.Abs())
		from = &t
	} else {
		from = read("since", r.since)
	}
	if r.from != "" {
		from = read("from", r.from)
	}
	to = read("to", r.to)
	return from, to, err
}

// rfc3339 is how every command writes a time.
func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }
