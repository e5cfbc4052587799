package redislock

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/oidkit/oid/lock"
)

// A prefix in a URL is refused or begins the keys, and cannot change the hash tag of a key.
func FuzzPrefix(f *testing.F) {
	for _, s := range []string{"", "prefix=shop", "prefix=shop:", "prefix=a&prefix=b", "Prefix=x", "prefix={a}", "prefix=%20", "prefix=a;b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, query string) {
		prefix, err := prefixOf("redis://host?" + query)
		if err != nil {
			if !errors.Is(err, lock.ErrInvalid) {
				t.Errorf("%q: %v, want ErrInvalid", query, err)
			}
			return
		}
		values, err := url.ParseQuery(strings.SplitN(query, "#", 2)[0])
		if err != nil || values.Get("prefix") != prefix || values.Has("prefix") != (prefix != "") {
			t.Fatalf("%q has the prefix %q, %v", query, prefix, err)
		}
		begin, err := separated(prefix)
		if err != nil || !strings.HasPrefix(begin, prefix) || strings.ContainsAny(begin, "{}*?[]\\ \t\r\n") {
			t.Errorf("%q: %q, %v", prefix, begin, err)
		}
		again, err := separated(begin)
		if len(begin) <= maxPrefix && (err != nil || again != begin) {
			t.Errorf("%q becomes %q, and that %q, %v", prefix, begin, again, err)
		}
		l := &Locker{keyBegin: begin + keyBegin}
		for _, key := range l.keysOf("job") {
			if i := strings.IndexByte(key, '{'); !strings.HasPrefix(key, begin) || key[i:i+len("{job}")] != "{job}" {
				t.Errorf("%q: key %q", prefix, key)
			}
		}
	})
}
