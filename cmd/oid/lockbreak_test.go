//go:build unix

package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// A holder hangs. Its lock is broken, and goes to the waiter with a greater fence. The holder's
// command ends, and its oid says who did that. A lock in files says which process to end.
func TestLockBreak(t *testing.T) {
	t.Parallel()
	for name, url := range onceBackends(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			holder := startLock(t, nil, "stuck", "--locks", url, "--ttl", "3s", "--", "sh", "-c", "echo held; exec sleep 1000")
			holder.line()
			refused := oid(t, "", "lock", "--break", "stuck", "--locks", url)
			if name == "file" {
				want := fmt.Sprintf("a lock in files ends only with the processes that hold it; to end them, write: kill %d", holder.cmd.Process.Pid)
				if refused.code != 1 || !strings.Contains(refused.err, want) {
					t.Fatalf("%+v, want exit code 1 and %q", refused, want)
				}
				return
			}
			if refused.code != exitUsage || !strings.Contains(refused.out, "stuck: held by ") || !strings.Contains(refused.err, "to break this lock, add --yes") {
				t.Errorf("without a terminal and without --yes: %+v, want the holder, and exit code %d", refused, exitUsage)
			}
			next := startLock(t, nil, "stuck", "--locks", url, "--", "sh", "-c", "echo $OID_LOCK_FENCE; exec sleep 1000")
			testenv.Await(t, "waiter", func() error {
				if s := oid(t, "", "lock", "--status", "stuck", "--locks", url); !strings.Contains(s.out, "1 waiting") {
					return fmt.Errorf("%+v", s)
				}
				return nil
			})
			got := oid(t, "", "lock", "--break", "stuck", "--yes", "--locks", url)
			fence := next.line()
			if got.code != 0 || !strings.Contains(got.out, fmt.Sprintf("pid %d on ", holder.cmd.Process.Pid)) {
				t.Errorf("--break: %+v, want the holder, and exit code 0", got)
			}
			_, least, found := strings.Cut(strings.TrimSpace(got.err), "a fence of at least ")
			if _, err := strconv.ParseUint(least, 10, 64); !found || err != nil || fence < least { // all have 16 digits
				t.Errorf("--break: %+v; the next has the fence %s, want one that --break promised", got, fence)
			}
			if code := holder.code(); code != exitLockLost || !strings.Contains(holder.stderr.String(), "it was broken by pid ") {
				t.Errorf("the holder ends with %d: %s; want %d, and who broke the lock", code, holder.stderr.String(), exitLockLost)
			}
			if s := oid(t, "", "lock", "--status", "stuck", "--locks", url); !strings.Contains(s.out, "fence "+fence) {
				t.Errorf("status: %+v, want the next with the fence %s", s, fence)
			}
		})
	}
}
