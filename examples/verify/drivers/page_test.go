package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/examples/verify/internal/judge"
)

// The page has a row with a version and its year for each adapter, in their order: an
// interrupted run leaves a page that lacks some. The versions that files here say are
// those of the page.
func TestPageIsWhole(t *testing.T) {
	text, err := os.ReadFile("../../../docs/drivers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n|---")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")[1:]
	if len(rows) != len(adapters) {
		t.Fatalf("%d rows, want %d", len(rows), len(adapters))
	}
	pinned := map[string]string{ // the file that says a version, and how
		"Java bson": "pom.xml >%s<", "Kotlin kbson": "pom.xml >%s<", "Scala reactivemongo-bson": "pom.xml >%s<",
		"Rust bson": "rust/Cargo.toml bson = \"=%s\"",
	}
	for i, a := range adapters {
		cells := strings.Split(strings.Trim(rows[i], "| "), " | ")
		if len(cells) < 5 || cells[0] != a.name() {
			t.Errorf("row %d: %q, want %s", i, rows[i], a.name())
			continue
		}
		version := cells[1]
		if year := (row{Name: a.name(), Version: version}).year(); cells[2] != year || year == "-" && version != "this version" {
			t.Errorf("%s %s: year %s on the page, %s in years", a.name(), version, cells[2], year)
		}
		if a.versionOf[0] == "echo" && a.versionOf[1] != version {
			t.Errorf("%s: %s on the page, %s in adapters", a.name(), version, a.versionOf[1])
		}
		if file, form, ok := strings.Cut(pinned[a.name()], " "); ok {
			said, err := os.ReadFile("../adapters/" + file)
			if err != nil || !strings.Contains(string(said), strings.Replace(form, "%s", version, 1)) {
				t.Errorf("%s %s: not in %s: %v", a.name(), version, file, err)
			}
		}
	}
	named := func(name string) bool {
		return slices.ContainsFunc(adapters, func(a adapter) bool { return a.name() == name })
	}
	for _, u := range upgrades {
		if !named(u.from) || !named(u.to) || !strings.Contains(string(text), u.means) {
			t.Errorf("the page lacks the upgrade from %s to %s", u.from, u.to)
		}
	}
}

// What an upgrade repairs and breaks comes from the verdicts of tests that both versions ran.
func TestUpgrades(t *testing.T) {
	results := map[string]row{}
	for name, broken := range map[string]string{"Java mongo-java-driver": "layout", "Java bson": "second"} {
		r := row{Name: name, Version: "1"}
		x := result{Test: "ids"}
		x.Judged.Promises = append(x.Judged.Promises, judge.Result{Promise: broken, State: "broken"}, judge.Result{Promise: "order", State: "broken", Allowed: true})
		r.Results = append(r.Results, x)
		if name == "Java bson" {
			x.Test, x.Judged.Promises = "2106", append(x.Judged.Promises, judge.Result{Promise: "no-repeats", State: "broken"})
			r.Results = append(r.Results, x)
		}
		results[name] = r
	}
	var b strings.Builder
	writeUpgrades(&b, results)
	if got := b.String(); strings.Count(got, "\n- ") != 1 || !strings.Contains(got, "): repairs **layout** (ids); breaks **second** (ids). Ids no longer") {
		t.Error(got)
	}
}
