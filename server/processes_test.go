package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// The number above the table is that of its rows, whatever was searched, and a process
// that registers or ends here is seen at once.
func TestProcessesAreCounted(t *testing.T) {
	r := serve(t, server.Options{})
	page := func(query, want string) {
		t.Helper()
		if got := r.get(t, "/processes"+query, "Accept", "text/html"); got.status != 200 || !strings.Contains(got.body, want) {
			t.Errorf("/processes%s: status %d, without %q", query, got.status, want)
		}
	}
	var last wire.Registered
	for i := range 101 {
		last = decode[wire.Registered](t, r.post(t, "/v1/processes", fmt.Sprintf(`{"name":"shop%03d","pid":%d}`, i, i+1)), 201)
		if i < 2 {
			page("", fmt.Sprintf("%d processes, %d alive", i+2, i+2)) // with the server itself
		}
	}
	page("", "100 processes on this page, 100 alive")
	page("?q=shop100", "1 process, 1 alive")
	page("?q=shop001", "1 process, 1 alive")
	page("?q=nobody", "0 alive")
	r.do(t, "DELETE", memberPath(last.Member), nil)
	page("?q=shop100", "1 process, 0 alive")
}
