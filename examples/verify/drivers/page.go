package main

import (
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/oidkit/oid/examples/verify/internal/judge"
)

const head = `# ObjectIds of drivers

What [%[1]sexamples/verify%[1]s](how-to/verify-a-generator.md) reports of libraries that create ObjectIds.
Written by %[1]smake drivers%[1]s on %[2]s, on %[3]s.
%[1]sexamples/verify/drivers/adapters.go%[1]s has the adapters and what installs them;
%[1]s./verify FLAGS -- ADAPTER%[1]s repeats a test, in the folder %[1]sexamples/verify%[1]s.

`

// elsewhere is what was not judged. Debian 12 is the system, its unstable distribution and
// the registries of the languages have the current versions.
const elsewhere = `- Kotlin kbson: it draws its process value and its counter from the second in which the program starts.
  Programs that start in the same second create the same ids. MongoDB's driver for Kotlin does not use it: its ids
  are those of Java bson.
- Scala reactivemongo-bson: its process value is three bytes of the host's address and two of the number of the
  thread. Programs on one host share it, and only their counters keep their ids apart.
- Rust bson: programs in Rust rarely fork. One that does, such as a daemon, should fork before its first id.
- Python bson: it creates no ids after 2038-01-19T03:14:07Z. It is not the package bson of pymongo.
- C#, Swift and Elixir were not judged: their registries could not be reached.
`

const foot = `
- holds: no broken promise was found. ends: no broken promise was found, and from that second on the library creates
  no ids. "-": not tested, see the notes; the column JSON is for Go only.
- **A name**: this promise is broken, [see below](#what-is-broken). If the column ids names it, the other columns do not
  name it again. (A name): it is broken, and the specification allows that.
- year: when this version was released. A version between two rows of one library was not tested: run
  [` + "`" + `examples/verify` + "`" + `](how-to/verify-a-generator.md) with it.
- Your driver may take its ids from a package of another name. Node: ` + "`" + `npm ls bson` + "`" + ` shows it; ` + "`" + `mongodb` + "`" + ` 6 uses bson 6, and
  ` + "`" + `mongodb` + "`" + ` 7 uses bson 7. MongoDB's drivers for Java, Kotlin and Scala use Java bson, those for Ruby and Rust use the bson
  of their language. Motor uses pymongo, and the C++ driver uses libbson.
- full second: more than 2^24 ids while the clock stands still. 2106: 32 bits overflow.
`

// page returns the page with the results that are there, by the names of adapters.
func page(results map[string]row) string {
	var rows []row
	for _, a := range adapters {
		if r, ok := results[a.name()]; ok {
			r.adapter = a
			rows = append(rows, r)
		}
	}
	var b, notes strings.Builder
	found := breaches{libraries: map[breach][]string{}, examples: map[breach]string{}}
	fmt.Fprintf(&b, head, "`", time.Now().UTC().Format("2006-01-02"), system())
	columns := tests(fullSecond)
	differs := make([]bool, len(columns)) // the others are in a note
	for _, r := range rows {
		var always []string
		for i, x := range r.Results {
			names := broken(x.Judged, always)
			if i == 0 {
				always = names
			}
			differs[i] = differs[i] || x.Failed != "" || x.Not == "" && cell(x.Judged, names) != "holds"
		}
	}
	b.WriteString("| library | version | year |")
	line := "\n|---|---|---|"
	for i, t := range columns {
		if differs[i] {
			fmt.Fprintf(&b, " %s |", t.name)
			line += "---|"
		}
	}
	b.WriteString(line + "\n")
	reasons := map[string][]string{} // the libraries with each
	var order []string
	note := func(reason, of string) {
		if reasons[reason] == nil {
			order = append(order, reason)
		}
		if !slices.Contains(reasons[reason], of) {
			reasons[reason] = append(reasons[reason], of)
		}
	}
	for _, r := range rows {
		name := r.Name
		if r.Missing != "" {
			note("not installed; "+r.adapter.install, name)
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s |", name, r.Version, r.year())
		var always []string
		for i, x := range r.Results {
			shown := "-"
			switch {
			case x.Not == notRun:
				note(x.Test+": "+x.Not, name)
			case x.Not == noJSON:
			case x.Not != "":
				note(x.Not, name)
			case x.Failed != "":
				note(x.Test+": "+x.Failed, name)
			default:
				names := broken(x.Judged, always)
				if i == 0 {
					always = names
				}
				shown = cell(x.Judged, names)
				found.add(name, x, names)
			}
			if differs[i] {
				fmt.Fprintf(&b, " %s |", shown)
			}
		}
		b.WriteString("\n")
	}
	for _, reason := range order {
		fmt.Fprintf(&notes, "- %s: %s.\n", strings.Join(reasons[reason], ", "), reason)
	}
	var same []string
	for i, t := range columns {
		if !differs[i] {
			same = append(same, t.name)
		}
	}
	if same != nil {
		fmt.Fprintf(&notes, "- %s: holds where it was tested.\n", strings.Join(same, ", "))
	}
	notes.WriteString(elsewhere)
	b.WriteString(foot)
	writeUpgrades(&b, results)
	b.WriteString("\n## What is broken\n\nWith an example of the first row.\n\n")
	found.write(&b)
	b.WriteString("\n## Notes\n\n" + notes.String())
	return b.String()
}

// broken returns the names of the promises that are broken, without those in known.
func broken(v judge.Verification, known []string) (names []string) {
	for _, p := range v.Promises {
		if p.State == "broken" && !slices.Contains(known, p.Promise) {
			names = append(names, p.Promise)
		}
	}
	return names
}

// cell shows the broken promises with the given names.
func cell(v judge.Verification, names []string) string {
	var shown []string
	for _, p := range v.Promises {
		switch {
		case !slices.Contains(names, p.Promise):
		case p.Allowed:
			shown = append(shown, "("+p.Promise+")")
		default:
			shown = append(shown, "**"+p.Promise+"**")
		}
	}
	switch {
	case shown == nil && v.Clock == "end" && v.IDs < v.Wanted:
		return "ends"
	case shown == nil:
		return "holds"
	}
	return strings.Join(shown, ", ")
}

// breach is a way in which a promise is broken.
type breach struct {
	test, promise, cause, meaning string
}

// breaches are the ways in which promises are broken, with the libraries of each.
type breaches struct {
	order     []breach
	libraries map[breach][]string
	examples  map[breach]string // of the first library
}

// add adds what a test found of a library, of the promises with the given names.
func (b *breaches) add(library string, x result, names []string) {
	for _, p := range x.Judged.Promises {
		if p.State != "broken" || !slices.Contains(names, p.Promise) {
			continue
		}
		name := p.Promise
		if p.Allowed {
			name += " (allowed)"
		}
		k := breach{x.Test, name, p.Cause, p.Meaning}
		if b.libraries[k] == nil {
			b.order = append(b.order, k)
			b.examples[k] = strings.ReplaceAll(p.Example, "`", "'")
		}
		b.libraries[k] = append(b.libraries[k], library)
	}
}

func (b *breaches) write(w *strings.Builder) {
	said := map[string]bool{} // meanings
	for _, k := range b.order {
		meaning := " " + k.meaning
		if said[k.meaning] {
			meaning = ""
		}
		said[k.meaning] = true
		of := strings.Join(b.libraries[k], ", ")
		if n := len(b.libraries[k]); n > 4 {
			of = fmt.Sprintf("%d rows, such as %s", n, b.libraries[k][0])
		}
		fmt.Fprintf(w, "- **%s**, %s: %s.%s %s: `%s`.\n", k.promise, k.test, k.cause, meaning, of, b.examples[k])
	}
}

// shown returns a command without the folder of one run.
func shown(dir string, command []string) (words []string) {
	for _, word := range command {
		words = append(words, strings.ReplaceAll(strings.ReplaceAll(word, dir+"/", "./"), dir, "."))
	}
	return words
}

// system describes the machine in a few words.
func system() string {
	out, err := exec.Command("sh", "-c", ". /etc/os-release && printf %s \"$PRETTY_NAME\"").Output()
	if err != nil {
		return runtime.GOOS + "/" + runtime.GOARCH
	}
	return string(out)
}
