package main

import (
	"fmt"
	"slices"
	"strings"
)

// years says when each version that was judged was released.
var years = map[string]int{
	"Go mongo-driver v2.9.3": 2026, "Go mongo-driver-v1 v1.17.10": 2026, "Go xid v1.6.0": 2024,
	"Go mgo v0.0.0-20181015135952-eeefdecb41b8": 2018,
	"C libbson 2.5.7": 2026, "C libbson 1 1.23.1": 2022,
	"Node bson 7.3.4": 2026, "Node bson in a snapshot 7.3.4": 2026, "Node bson 7.1 in a snapshot 7.1.0": 2026,
	"Node bson-objectid 2.0.4": 2022, "Node mongoose 9.12.1": 2026, "Node uniku 0.5.0": 2026,
	"PHP mongodb 2.5.5": 2026, "PHP mongodb 1 1.15.0": 2022,
	"Java bson 5.14.0": 2026, "Java mongo-java-driver 3.6.3": 2018,
	"Kotlin kbson 0.4.0": 2024, "Scala reactivemongo-bson 1.0.10": 2021, "Rust bson 3.1.0": 2025,
	"Ruby bson 5.2.0": 2025, "Ruby bson 4 4.15.0": 2022,
	"Python pymongo 4.20.1": 2026, "Python pymongo 3 3.11.0": 2020, "Python bson 0.5.10": 2020, "Perl BSON v1.12.2": 2020,
}

// year returns the year of a row, or "-" if years lacks it.
func (r row) year() string {
	if y := years[r.Name+" "+r.Version]; y != 0 {
		return fmt.Sprint(y)
	}
	return "-"
}

// upgrades are the pairs of an old library and a newer one, by the names of their rows, with
// a sentence on what the upgrade means.
var upgrades = []struct{ from, to, means string }{
	{"C libbson 1", "C libbson", "Ids are created and read as before. Programs are linked with `bson2` instead of `libbson-1.0`."},
	{"PHP mongodb 1", "PHP mongodb", "Ids are created and read as before."},
	{"Java mongo-java-driver", "Java bson", "Ids no longer carry the pid, so processes with pid 1 in two containers have different process values. Times after 2038 are read correctly. Programs that call `getCounter`, `getMachineIdentifier` or `getProcessIdentifier` no longer compile."},
	{"Ruby bson 4", "Ruby bson", "Ids no longer carry the pid and a hash of the host's name, so processes with pid 1 in two containers have different process values."},
	{"Python pymongo 3", "Python pymongo", "A text of 24 characters with blanks is now an error. Before, it became an id of eleven bytes, which equals no stored id."},
	{"Node bson 7.1 in a snapshot", "Node bson in a snapshot", "Processes that start from one snapshot no longer create the same ids."},
	{"Go mongo-driver-v1", "Go mongo-driver", "The type moves from package `primitive` to package `bson`; its functions keep their names. JSON is read as before: a text of twelve characters still becomes an id without an error."},
}

// writeUpgrades says what each of upgrades repairs and breaks.
func writeUpgrades(w *strings.Builder, results map[string]row) {
	w.WriteString("\n## What an upgrade changes\n\n" +
		"Each line names the broken promises that the newer version repairs or adds, with the column of the table in\n" +
		"brackets. [What is broken](#what-is-broken) explains them.\n\n")
	for _, u := range upgrades {
		from, old := results[u.from]
		to, current := results[u.to]
		if !old || !current || from.Missing != "" || to.Missing != "" {
			continue
		}
		var changes []string
		before, after := allBroken(from, to), allBroken(to, from)
		for _, c := range []struct {
			verb    string
			of, not []string
		}{{"repairs", before, after}, {"breaks", after, before}} {
			names := slices.DeleteFunc(slices.Clone(c.of), func(name string) bool { return slices.Contains(c.not, name) })
			if len(names) > 0 {
				changes = append(changes, c.verb+" "+strings.Join(names, ", "))
			}
		}
		if changes == nil {
			changes = []string{"no verdict changes"}
		}
		fmt.Fprintf(w, "- %s %s (%s) after %s (%s): %s. %s\n", u.to, to.Version, to.year(), from.Version, from.year(), strings.Join(changes, "; "), u.means)
	}
}

// allBroken returns the promises that a library breaks and the specification does not
// allow to break, each with the test that found it. Tests that the other library lacks do
// not count.
func allBroken(r, other row) (names []string) {
	var always []string
	for i, x := range r.Results {
		found := broken(x.Judged, always)
		if i == 0 {
			always = found
		}
		if !slices.ContainsFunc(other.Results, func(y result) bool { return y.Test == x.Test && y.Not+y.Failed == "" }) {
			continue
		}
		for _, p := range x.Judged.Promises {
			if !p.Allowed && slices.Contains(found, p.Promise) {
				names = append(names, fmt.Sprintf("**%s** (%s)", p.Promise, x.Test))
			}
		}
	}
	return names
}
