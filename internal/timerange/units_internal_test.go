package timerange

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestUnits reads one of each unit by each of its names.
func TestUnits(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	want := map[string]string{ // one of it before now
		"y": "2025-11-20T12:00:00Z", "mo": "2026-10-20T12:00:00Z", "w": "2026-11-13T12:00:00Z", "d": "2026-11-19T12:00:00Z",
		"h": "2026-11-20T11:00:00Z", "m": "2026-11-20T11:59:00Z", "s": "2026-11-20T11:59:59Z",
		"ms": "2026-11-20T11:59:59.999Z",
	}
	help := strings.Fields(Help(""))
	for _, u := range units {
		short, word := u.names[0], u.names[len(u.names)-1]
		if want[short] == "" {
			t.Errorf("no vector for the unit %s: add the time that is 1%s before now", short, short)
			continue
		}
		if !slices.Contains(help, short) {
			t.Errorf("the help does not have the unit %s", short)
		}
		texts := []string{"a " + word + " ago", "last " + word}
		for _, name := range u.names {
			texts = append(texts, "-1"+name, "1 "+name+" ago")
			if len(name) > 2 {
				texts = append(texts, "-1 "+name+"s")
			}
		}
		for _, text := range texts {
			if got, err := Parse(text, now); err != nil || got.Format(time.RFC3339Nano) != want[short] {
				t.Errorf("Parse(%q) = %v, %v, want %s", text, got, err, want[short])
			}
		}
	}
}
