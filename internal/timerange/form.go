package timerange

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oidkit/oid/internal/pattern"
)

// layouts are the forms of a date and a time as programs print them, in lower case, without
// the day of the week and the zone. Seconds may have a fraction after a dot or a comma.
// "Jan 2 2006" precedes "Jan 2 15:04": the year would look like an hour.
var layouts = []string{
	"2006-01-02 15:04:05", // RFC 3339, most databases and languages
	"2006-01-02 15:04",
	"2006-01-02 15",
	time.DateOnly,
	"20060102 150405",         // the basic format of ISO 8601
	"2006/01/02 15:04:05",     // package log of Go, nginx's error log
	"02/Jan/2006:15:04:05",    // access logs of nginx and Apache
	"2 Jan 2006 15:04:05",     // e-mail, HTTP, Redis
	"02-Jan-2006 15:04:05",    // cookies, Tomcat
	"Jan 2 2006 15:04:05",     // toString of JavaScript
	"Jan 2 15:04:05 2006",     // date, ctime, toString of Java's Date
	"Jan 2 03:04:05 pm 2006",  // date in American English
	"Jan 2, 2006, 3:04:05 pm", // toLocaleString with dateStyle medium
}

// wrappings are the ways in which programs wrap a time. The first group of each pattern is
// the time: a text, or a number of the given unit since 1970. A unit of 0 means a text.
var wrappings = []struct {
	match *pattern.Late
	unit  time.Duration
}{
	{pattern.Of(`^"(.+)"$`), 0},
	{pattern.Of(`^'(.+)'$`), 0},
	{pattern.Of(`^\[(.+)\]$`), 0}, // logs of Apache and nginx
	{pattern.Of(`^(?:new )?(?:(?:iso)?date|objectid)\( ?["'](.+)["'] ?\)$`), 0},
	{pattern.Of(`^\{ ?"?\$(?:date|oid)"? ?: ?"(.+)" ?\}$`), 0},
	{pattern.Of(`^(?:number)?(?:int|long)(?:32|64)?\( ?["']?(\d+)["']? ?\)$`), 0},
	{pattern.Of(`^\{ ?"?\$number(?:int|long)"? ?: ?"(\d+)" ?\}$`), 0},
	{pattern.Of(`^(?:new )?date\( ?(-?\d+) ?\)$`), time.Millisecond},
	{pattern.Of(`^\{ ?"?\$date"? ?: ?(?:\{ ?"?\$numberlong"? ?: ?")?(-?\d+)(?:" ?\})? ?\}$`), time.Millisecond},
	{pattern.Of(`^bsondatetime\{value=(-?\d+)\}$`), time.Millisecond}, // Java
	{pattern.Of(`^(?:new )?timestamp\( ?(?:\{ ?t ?: ?)?(\d+) ?, ?(?:i ?: ?)?\d+(?: ?\})? ?\)$`), time.Second},
	{pattern.Of(`^timestamp\{value=\d+, seconds=(\d+), inc=\d+\}$`), time.Second}, // Java
	{pattern.Of(`^\{ ?"?\$timestamp"? ?: ?\{ ?"?t"? ?: ?(\d+) ?, ?"?i"? ?: ?\d+ ?\} ?\}$`), time.Second},
}

// unwrap returns the text or the number within at most two wrappings, and the unit of a number.
// The unit of a text is 0.
func unwrap(words string) (string, time.Duration) {
	for range 2 {
		for _, w := range wrappings {
			if m := w.match.Get().FindStringSubmatch(words); m != nil {
				if w.unit != 0 {
					return m[1], w.unit
				}
				words = m[1]
				break
			}
		}
	}
	return words, 0
}

// since1970 reads a number of a unit, which is a second or a millisecond.
func since1970(number string, unit time.Duration) (time.Time, error) {
	n, err := strconv.ParseInt(number, 10, 64)
	if perSecond := int64(time.Second / unit); err == nil && n/perSecond >= -year9999 && n/perSecond <= year9999 {
		return time.Unix(n/perSecond, n%perSecond*int64(unit)).UTC(), nil
	}
	return time.Time{}, fmt.Errorf("time %q: beyond the year 9999", number)
}

var (
	weekdayBefore = pattern.Of(`^(?:(sun|mon|tue|wed|thu|fri|sat)(?:day|sday|nesday|rsday|urday)?,? )`)

	// extras matches what follows a time and its offset: a zone by its name in brackets, as
	// Java and JavaScript write it, and Go's reading of a monotonic clock.
	extras = pattern.Of(`(?: ?\([^()]+\)| ?\[[^\[\]]+\]| m=[+-]\d+\.\d+)$`)

	// zoned splits a time into what precedes the zone, the name of the zone, its offset, and
	// the year if that follows. A second name, which Go writes after the offset, is ignored.
	zoned = pattern.Of(`^(.*?(?::\d\d(?:[.,]\d+)?| \d{6})(?: ?[ap]m)?(?: \d{4})?) ?([a-z]{3,5}|z)?(?: ?([+-])(\d\d)(?::?([0-5]\d))?(?::?([0-5]\d))?(?: [a-z]{3,5}| [+-]\d\d(?:\d\d)?)?)?( \d{4})?$`)

	dateAndTime = pattern.Of(`^([\d/-]+)t(\d)`)
)

// refusals are the forms that could be read in several ways or say too little.
var refusals = []struct {
	match  *pattern.Late
	reason string
}{
	{pattern.Of(`^\d\d?[/.-]\d\d?[/.-]\d\d(?:\d\d)?\b`), "the day or the month may come first; write the year first, such as 2026-11-20T14:00:00"},
	{pattern.Of(`^\d\d?[- ][a-z]{3}[- ]\d\d `), "the year has two digits; write a time such as 2026-11-20T14:00:00"},
	{pattern.Of(`^[a-z]{3} \d\d? \d\d:\d\d:\d\d$`), "it has no year; write a time such as 2026-11-20T14:00:00"},
	{pattern.Of(`(?:gmt|utc) ?[+-]\d\d?$`), "some programs write +2 for two hours behind UTC; write an offset such as +02:00"},
}

// errNoMoment is the error of a text that has none of the forms of a date and a time.
var errNoMoment = errors.New("not a date and a time")

// parseMoment reads a date and a time in lower case, which is in the zone local if it has no zone of
// its own.
func parseMoment(words string, local *time.Location) (time.Time, error) {
	weekday := ""
	if day := weekdayBefore.Get().FindStringSubmatch(words); day != nil {
		weekday, words = day[1], words[len(day[0]):]
	}
	wall, zone, zoneName := dateAndTime.Get().ReplaceAllString(extras.Get().ReplaceAllString(words, ""), "$1 $2"), local, ""
	if parts := zoned.Get().FindStringSubmatch(wall); parts != nil {
		name, sign, hours, minutes, seconds := parts[2], parts[3], parts[4], parts[5], parts[6]
		isUTC := name == "z" || name == "utc" || name == "gmt"
		switch {
		case sign == "" && isUTC:
			zone = time.UTC
		case sign == "":
			zoneName = strings.ToUpper(name)
		case (name == "" || isUTC && name != "z" && minutes != "") && hours < "24":
			offset, _ := time.ParseDuration(sign + hours + "h" + cmp.Or(minutes, "0") + "m" + cmp.Or(seconds, "0") + "s")
			zone = time.FixedZone("", int(offset.Seconds()))
		default: // "GMT+2" means two hours behind to some programs
			return time.Time{}, refusal(wall)
		}
		wall = parts[1] + parts[7]
	}
	for _, layout := range layouts {
		t, err := time.Parse(layout, wall)
		if wrong, isWrong := errors.AsType[*time.ParseError](err); isWrong {
			if strings.HasSuffix(wrong.Message, "out of range") {
				return t, fmt.Errorf("no such date or time%s", wrong.Message)
			}
			continue
		}
		switch day := t.Weekday().String(); {
		case zoneName != "":
			return t, fmt.Errorf("zone %s: names of zones are ambiguous; write the offset from UTC instead, as in %s+HH:MM", zoneName, t.Format("2006-01-02T15:04:05"))
		case weekday != "" && weekday != strings.ToLower(day[:3]):
			return t, fmt.Errorf("%s is a %s", t.Format(time.DateOnly), day)
		}
		return inZone(t, zone, layout == time.DateOnly)
	}
	return time.Time{}, refusal(wall)
}

// refusal returns why a text is not a date and time.
func refusal(wall string) error {
	for _, r := range refusals {
		if r.match.Get().MatchString(wall) {
			return errors.New(r.reason)
		}
	}
	return errNoMoment
}
