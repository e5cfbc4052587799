package census_test

import (
	"strings"
	"testing"

	"github.com/oidkit/oid/objectid"
)

// TestMeetings holds when a report foresees that two processes with one value create the
// same ids.
func TestMeetings(t *testing.T) {
	const (
		year      = 365 * day
		reachable = (year + 2*20_250) / 2 // counters that the first process catches up within a year
		idle      = 39_000 + 16*976       // seconds until which the first one may be idle
	)
	// Two processes with 40 ids each: one moves on by 1500 counters in 1000 seconds, the
	// other one, which is ahead, by 1000 or by as many.
	two := func(ahead, slower int) (ids []objectid.ID) {
		for i := range 40 {
			ids = append(ids, made(0xA1B2C3D4E5, 1000*i, 1500*i), made(0xA1B2C3D4E5, 1000*i+500, ahead+slower*i))
		}
		return ids
	}
	// The same with all counters moved on, so that the second process is past zero again.
	moved := func(ids []objectid.ID) (out []objectid.ID) {
		for _, id := range ids {
			out = append(out, made(0xA1B2C3D4E5, int(id.Time().Unix()-origin), int(id[9])<<16+int(id[10])<<8+int(id[11])+2_000_000))
		}
		return out
	}
	for _, test := range []struct {
		name string
		ids  []objectid.ID
		want string
	}{
		{"within a year", two(reachable, 1000), "a1b2c3d4e5 are 15,768,000 counter values apart, and one reaches the other about 2024-11-14."},
		{"later", two(reachable+1, 1000), ""},
		{"with the first one at work last", append(two(reachable+250, 1000), made(0xA1B2C3D4E5, 40_000, 60_000)), "one reaches the other about 2024-11-14."},
		{"that, later", append(two(reachable+251, 1000), made(0xA1B2C3D4E5, 40_000, 60_000)), ""},
		{"at the same pace", two(half, 1500), ""},
		{"the one behind is the other", two(-1_000_000+wrap, 2000), "a1b2c3d4e5 are 981,250 counter values apart, and one reaches the other about 2023-12-08."},
		{"past zero again", moved(two(wrap-2_000_000, 1000)), "are 14,756,966 counter values apart, and one reaches the other about 2024-10-21."},
		{"both at work", append(two(half, 1000), made(7, idle, 0)), "one reaches the other about"},
		{"one has ended", append(two(half, 1000), made(7, idle+1, 0)), ""},
	} {
		r := reportOf(t, test.ids, nil, nil)
		if !r.TopProcesses[0].Shared {
			t.Errorf("%s: the value is not shared", test.name)
		}
		got := strings.Join(r.Advice, "\n")
		if foreseen := strings.Contains(got, "restart one of them"); foreseen != (test.want != "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: advice %q, want %q", test.name, got, test.want)
		}
	}
}
