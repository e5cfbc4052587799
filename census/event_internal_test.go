package census

import (
	"slices"
	"testing"
	"time"

	"github.com/oidkit/oid/census/internal/idset"
)

// TestFaultEvents holds when the events of single processes were, and how big.
func TestFaultEvents(t *testing.T) {
	at := func(value uint64, seconds ...uint32) evidence {
		e := evidence{bits: maxBits, first: slices.Min(seconds), last: slices.Max(seconds)}
		for i, s := range seconds {
			e.examples = append(e.examples, idset.RecordOf(value, s, uint32(i), uint32(i)))
		}
		return e
	}
	var c tally
	c.suspects.found[stepped].add(at(1, 1000, 940))
	c.suspects.found[shared].add(at(2, 2000, 1900, 2100))
	c.suspects.found[resumed].add(at(3, 3000, 3600))
	weak := at(4, 1, 2)
	weak.bits = proofBits - 1
	c.suspects.found[shared].add(weak)
	when := func(second int64) time.Time { return time.Unix(second, 0).UTC() }
	want := []Event{
		{Kind: KindSharedValue, Start: when(1900), End: when(2100), Size: 2, Process: processText(2), Confidence: ConfidenceCertain},
		{Kind: KindClockStep, Start: when(940), End: when(1000), Size: 60, Process: processText(1), Confidence: ConfidenceCertain},
		{Kind: KindResumed, Start: when(3000), End: when(3600), Size: 2, Process: processText(3), Confidence: ConfidenceCertain},
	}
	if got := c.faultEvents(); !slices.Equal(got, want) {
		t.Errorf("events\n%+v, want\n%+v", got, want)
	}
}

// TestBroken holds that a source of which a document was skipped counts as broken.
func TestBroken(t *testing.T) {
	for _, test := range []struct {
		source Source
		want   bool
	}{{Source{Units: 1}, false}, {Source{Units: 1, Broken: 1}, true}, {Source{Error: "no such file"}, true}} {
		r := Report{Sources: []*Source{{}, &test.source}}
		if got := r.Broken(); got != test.want {
			t.Errorf("%+v: broken %v, want %v", test.source, got, test.want)
		}
	}
	for p, want := range map[Position]string{
		{Source: "a", Unit: "line", Number: 7}:                        "a: line 7",
		{Source: "a", Collection: "b.c", Unit: "document", Number: 1}: "a b.c: document 1",
	} {
		if got := p.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
