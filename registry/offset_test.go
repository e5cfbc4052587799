package registry_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// The clock of a remote process is off. Its ids carry the time of that clock, from
// the first to the last, and are traced to it all the same.
func TestClockOfARemoteProcess(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{-2 * time.Second, 0, 45 * time.Second, -3 * time.Hour, 3 * time.Hour} {
		for _, sampled := range []bool{false, true} {
			t.Run(fmt.Sprintf("off by %v, with a sample %v", off, sampled), func(t *testing.T) {
				t.Parallel()
				s := newStore(t)
				r := registry.New(s, nil)
				g := remote(t, 7)
				value := objectid.New()
				own := func() objectid.ID { // as the process creates it now
					id := objectid.MinAt(time.Now().Add(off))
					copy(id[4:], value[4:])
					return id
				}
				o := &registry.RemoteOptions{Interval: time.Second, Clock: time.Now().Add(off)}
				var err error
				if sampled {
					_, err = r.AdoptRemote(t.Context(), g, []objectid.ID{own()}, objectid.Modern, o)
				} else {
					var p registry.Process
					p, err = r.RegisterRemote(t.Context(), g, o)
					block := idOf(t, p.Block)
					copy(value[4:8], block[4:8])
				}
				if err != nil {
					t.Fatal(err)
				}
				verdict := registry.Known
				if sampled {
					verdict = registry.Claimed
				}
				check := func(when string) {
					t.Helper()
					if tr := trace(t, r, own()); tr.Verdict != verdict || !sampled && !tr.Certain {
						t.Errorf("an id from %s: %s, certain %v (%s)", when, tr.Verdict, tr.Certain, tr.Reason)
					} else if sampled && off == 0 && strings.Contains(tr.Reason, "claimed by evidence id") { // its clock is right
					} else if !tr.Certain && !strings.Contains(tr.Reason, "the clock of the process was ") && !strings.Contains(tr.Reason, "the process was recorded only at") {
						t.Errorf("an id from %s is not certain, and the reason is %q", when, tr.Reason)
					}
				}
				check("the start")
				if _, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: keyOf(t, r, g), Load: registry.Load{}, Clock: time.Now().Add(off)}); err != nil {
					t.Fatal(err)
				}
				check("its life")
				if _, err := r.End(t.Context(), keyOf(t, r, g), "done", 0); err != nil {
					t.Fatal(err)
				}
				check("the end")
				// Beyond what the clock explains there is still a conflict.
				for _, d := range []time.Duration{-4 * time.Hour, 4 * time.Hour} {
					if tr := trace(t, r, later(own(), int(d.Seconds()))); tr.Verdict != registry.Conflict {
						t.Errorf("an id from %v later: %s (%s), want conflict", d, tr.Verdict, tr.Reason)
					}
				}
			})
		}
	}
}

// A process that never said what its clock shows may have one that is off by any time:
// nothing proves that it did not create an id, and what this leaves open is said.
func TestUnknownClockOfARemoteProcess(t *testing.T) {
	s := newStore(t)
	r := registry.New(s, nil)
	p, err := r.RegisterRemote(t.Context(), remote(t, 7), nil)
	if err != nil {
		t.Fatal(err)
	}
	id := idOf(t, p.Block)
	for _, c := range []struct {
		seconds int
		certain bool
	}{{0, true}, {-50, false}, {-70, false}, {80, false}, {100, false}, {-365 * 86400, false}} {
		tr := trace(t, r, later(id, c.seconds))
		if tr.Verdict != registry.Known || tr.Certain != c.certain {
			t.Errorf("an id from %d s later: %s, certain %v (%s), want known, %v", c.seconds, tr.Verdict, tr.Certain, tr.Reason, c.certain)
		}
	}
}

func TestClockOffsetInWords(t *testing.T) {
	for want, o := range map[string]registry.ClockOffset{
		"right":                     {},
		"2s behind":                 {Min: -2 * time.Second, Max: -2 * time.Second},
		"2s ahead":                  {Min: 2 * time.Second, Max: 2*time.Second + 400*time.Microsecond},
		"1.5s to 2s ahead":          {Min: 1500 * time.Millisecond, Max: 2 * time.Second},
		"1.5s to 2s behind":         {Min: -2 * time.Second, Max: -1500 * time.Millisecond},
		"500ms behind to 1ms ahead": {Min: -500 * time.Millisecond, Max: time.Millisecond},
	} {
		if got := o.String(); got != want {
			t.Errorf("%+v reads %q, want %q", o, got, want)
		}
	}
}

// The times that the clock of a remote process did not show while it ran are not those of
// its ids for certain: only a clock that was corrected could have shown them.
func TestTimesThatAClockDidNotShow(t *testing.T) {
	for offset, certain := range map[time.Duration][2]bool{ // of ids at its time and at that of the server
		-3 * time.Hour: {true, false},
		3 * time.Hour:  {true, false},
		0:              {true, true},
	} {
		r := registry.New(newStore(t), nil)
		now := time.Now()
		p, err := r.RegisterRemote(t.Context(), remote(t, 7), &registry.RemoteOptions{Name: "php", Clock: now.Add(offset)})
		if err != nil {
			t.Fatal(err)
		}
		if p, err = r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: p.Key(), Load: registry.Load{}, Clock: now.Add(offset)}); err != nil {
			t.Fatal(err)
		}
		id := idOf(t, p.Block)
		for i, by := range []time.Duration{offset, 0} {
			at := later(id, int(by/time.Second))
			tr := trace(t, r, at)
			if tr.Verdict != registry.Known || tr.Certain != certain[i] {
				t.Errorf("clock %v off, id %v off: %s, certain %v (%s), want known and %v", offset, by, tr.Verdict, tr.Certain, tr.Reason, certain[i])
			}
		}
	}
}
