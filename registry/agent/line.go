package agent

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
)

// Bounds of what a program may send. A name and a version are as long as those of a
// registration over HTTP.
const (
	maxLine = 1000 // bytes, with the newline
	maxText = 200  // bytes of a name or a version
)

// Version is the first word of each line, and names the format.
const Version = "oid1"

// Line is what a program says of itself.
type Line struct {
	// ID is an id that the program has created.
	ID objectid.ID
	// Layout of its ids. Default: [objectid.Modern].
	Layout objectid.Layout
	// Name of the service, Version of the program, and the ip:port that peers dial, all
	// empty unless given.
	Name, Version, Addr string
}

// ParseLine reads a line without its newline: the version, an id, and fields of the form
// key=value in any order, each at most once. Values are percent-encoded. The error says
// what is wrong with the line, for the program that has sent it.
func ParseLine(text string) (l Line, err error) {
	words := strings.Fields(text)
	switch {
	case !utf8.ValidString(text):
		return l, errors.New("the line is not UTF-8")
	case len(words) == 0 || words[0] != Version:
		return l, fmt.Errorf("the line begins with %.40q, want %q", strings.Join(words[:min(1, len(words))], ""), Version+" ID")
	case len(words) == 1:
		return l, fmt.Errorf("the id is missing, want %q", Version+" ID")
	}
	if l.ID, err = objectid.Parse(words[1]); err != nil {
		return l, fmt.Errorf("%.40q is not an id: want 24 hexadecimal digits", words[1])
	}
	seen := map[string]bool{}
	for _, word := range words[2:] {
		key, value, found := strings.Cut(word, "=")
		if !found || seen[key] {
			return l, fmt.Errorf("%.40q: want key=value, each key once", word)
		}
		seen[key] = true
		if value, err = url.PathUnescape(value); err == nil {
			err = l.set(key, value)
		}
		if err != nil {
			return l, fmt.Errorf("%.40q: %w", word, err)
		}
	}
	return l, nil
}

// set sets the field called key.
func (l *Line) set(key, value string) (err error) {
	switch key {
	case "name", "version":
		text := map[string]*string{"name": &l.Name, "version": &l.Version}[key]
		if *text = value; value == "" || len(value) > maxText || !utf8.ValidString(value) || strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }) {
			err = fmt.Errorf("want 1 to %d bytes of printable characters", maxText)
		}
	case "addr":
		l.Addr = value
		_, err = gpid.ParseAddr(value)
	case "layout":
		err = l.Layout.UnmarshalText([]byte(value))
	default:
		err = errors.New("the key is not known: want name, version, addr or layout")
	}
	return err
}

// failure is the answer to a line with an error.
func failure(err error) string {
	return fmt.Sprintf("error %s\n", strings.ReplaceAll(strings.TrimPrefix(fmt.Sprint(err), "registry: "), "\n", "; "))
}
