package main

import (
	"fmt"
	"strings"
	"testing"
)

// The page shows a bound with its time, nothing for an open end, and what is wrong.
func TestRange(t *testing.T) {
	november := rangeOf("2026-11-01", "2026-12-01", "")
	from, ok := november["from"].(object)
	if !ok || from["id"] != "6ae681000000000000000000" || from["time"] != "2026-11-01T00:00:00Z" {
		t.Errorf("from %v", november["from"])
	}
	if open := rangeOf("2026-11-01", "", ""); open["from"] == nil || open["to"] != nil {
		t.Errorf("a range without an end: %v to %v", open["from"], open["to"])
	}
	if day := rangeOf("", "", ""); day["from"] == nil || day["error"] != nil {
		t.Errorf("the last day: %v", day)
	}
	if wrong := rangeOf("2026-13-01", "", ""); wrong["error"] == nil || wrong["queries"] != nil {
		t.Errorf("month 13: %v", wrong)
	}
}

// Errors have no names of packages.
func TestErrorsWithoutPackages(t *testing.T) {
	for _, wrong := range []object{inspectText("zz"), inspectText("no id here"), rangeOf("2026-13-01", "", ""), rangeOf("2026", "2025", ""), oddsOf("3", "1", "soon", "")} {
		text := fmt.Sprint(wrong)
		for _, name := range []string{"inspect: ", "objectid: "} {
			if strings.Contains(text, name) {
				t.Errorf("%s has the name of a package", text)
			}
		}
	}
}
