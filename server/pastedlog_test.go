package server_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/oidkit/oid/server"
)

// Of a pasted log, the page shows the ids and does not complain about lines without
// any, unless there is nothing else.
func TestPageOfAPastedLog(t *testing.T) {
	r := serve(t, server.Options{})
	for _, c := range []struct {
		text      string
		id, noted string // what the page contains, or does not if it is empty
	}{
		{"2026-11-20 started up\norder \\u003c507f1f77bcf86cd799439011\\u003e failed\n{\"id\":51803}", "507f1f77bcf86cd799439011", ""},
		{"2026-11-20 started up\nnothing more", "", "no id in"},
		{"507f1f77bcf86cd799439011\n507f1f77bcf86cd79943901x", "507f1f77bcf86cd799439011", "character 24"},
	} {
		page := r.get(t, "/?id="+url.QueryEscape(c.text), "Accept", "text/html").body
		if c.id != "" && !strings.Contains(page, `objectid classic`) {
			t.Errorf("%q: the page lacks %s", c.text, c.id)
		}
		for _, note := range []string{"no id in", "character 24"} {
			if got := strings.Contains(page, note); got != (note == c.noted) {
				t.Errorf("%q: the page says %q: %v", c.text, note, got)
			}
		}
	}
}
