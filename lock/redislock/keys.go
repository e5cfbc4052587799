package redislock

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/oidkit/oid/lock"
)

// The key of a lock is its name between these, after the prefix of the Locker. The braces make
// the name a hash tag.
const (
	keyBegin = "oid:lock:{"
	keyEnd   = "}"
)

// keysOf returns the keys of a lock in the order of the scripts.
func (l *Locker) keysOf(name string) []string {
	const queueEnd, heardEnd = keyEnd + ":queue", keyEnd + ":heard"
	both := l.keyBegin + name + queueEnd + l.keyBegin + name + heardEnd // one allocation instead of three
	n := len(l.keyBegin) + len(name)
	return []string{both[:n+len(keyEnd)], both[:n+len(queueEnd)], both[n+len(queueEnd):]}
}

// noteKeys returns the keys of a lock and of its note.
func (l *Locker) noteKeys(name string) []string {
	key := l.keysOf(name)[0]
	return []string{key, key + ":note"}
}

// maxPrefix is the length of the longest prefix, in bytes.
const maxPrefix = 128

// separated returns the text with which all keys and channels begin if the option is prefix.
// Braces would choose another node of a Redis Cluster, blanks separate the fields of the
// scripts, and the other characters that it refuses have a meaning in a SCAN.
func separated(prefix string) (string, error) {
	bad := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`{}*?[]\`, r) }
	switch i := strings.IndexFunc(prefix, bad); {
	case len(prefix) > maxPrefix:
		return "", fmt.Errorf("%w prefix: %d bytes, want at most %d", lock.ErrInvalid, len(prefix), maxPrefix)
	case i >= 0:
		return "", fmt.Errorf(`%w prefix %q: byte %d; want printable ASCII without blanks and {}*?[]\`, lock.ErrInvalid, prefix, i)
	case prefix == "":
		return "", nil
	}
	if last := prefix[len(prefix)-1] | 0x20; last >= 'a' && last <= 'z' || last >= '0' && last <= '9' {
		prefix += ":"
	}
	return prefix, nil
}

// prefixOf returns the prefix in the query of a URL, or "" if there is none.
func prefixOf(rawURL string) (string, error) {
	_, rawQuery, _ := strings.Cut(rawURL, "?")
	rawQuery, _, _ = strings.Cut(rawQuery, "#")
	query, err := url.ParseQuery(rawQuery)
	for key, values := range query {
		if strings.Contains(strings.ToLower(key), "prefix") && (key != "prefix" || len(values) > 1 || values[0] == "") {
			err = fmt.Errorf("its query has %s=%s; want prefix=NAME, once", key, strings.Join(values, ", "))
		}
	}
	if err != nil {
		return "", fmt.Errorf("%w URL of Redis: %w", lock.ErrInvalid, err)
	}
	_, err = separated(query.Get("prefix"))
	return query.Get("prefix"), err
}
