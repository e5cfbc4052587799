package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/oidkit/oid/server/wire"
)

const head = `# ObjectIds of drivers

What %[1]soid verify%[1]s says of the libraries that create ObjectIds. [Verify your
generator](how-to/verify-a-generator.md) describes the tests; the adapters are in
%[1]sexamples/verify/adapters%[1]s.

Written by %[1]smake drivers%[1]s on %[2]s, on %[3]s. Each row can be run again:
%[1]soid verify FLAGS -- ADAPTER%[1]s, with the flags at the head of a column and the adapter
at the beginning of a row.

`

const foot = `
"holds": no promise is broken. A name: that promise is broken, see below; what the first
column names is not repeated. "-": not tested, see the notes. A full second: more than
2^24 ids within a second of a clock that stands still.

An order that breaks when the clock is set back, and a repeat beyond 2^24 ids in a
second, follow from the layout that MongoDB's specification describes; a generator can do
better, as the first row shows.
`

// write returns the page.
func write(rows []row) string {
	var b, details, notes strings.Builder
	fmt.Fprintf(&b, head, "`", time.Now().UTC().Format("2006-01-02"), system())
	columns := tests(fullSecond)
	b.WriteString("| library | version |")
	for _, t := range columns {
		fmt.Fprintf(&b, " %s%s |", t.name, flagsText(t))
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(columns)) + "\n")
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
		name := r.language + " " + r.library
		if r.missing != nil {
			note("not installed; "+r.install, name)
			continue
		}
		fmt.Fprintf(&b, "| %s | %s |", name, r.version)
		var always []string
		for i, x := range r.results {
			switch {
			case x.not != "":
				note(x.not, name)
				b.WriteString(" - |")
			case x.failed != "":
				note(x.test.name+": "+x.failed, name)
				b.WriteString(" - |")
			default:
				names := broken(x.judged, always)
				if i == 0 {
					always = names
				}
				fmt.Fprintf(&b, " %s |", cell(names))
				details.WriteString(detail(name, x, names))
			}
		}
		b.WriteString("\n")
	}
	for _, reason := range order {
		fmt.Fprintf(&notes, "- %s: %s.\n", strings.Join(reasons[reason], ", "), reason)
	}
	fmt.Fprintf(&notes, "- Beyond these no registry of packages for Python, Ruby, Perl, Java or Rust could be reached where this\n  page was written: their newer drivers are not here.\n")
	b.WriteString(foot)
	b.WriteString("\n## What is broken\n\n" + details.String())
	b.WriteString("## Notes\n\n" + notes.String())
	b.WriteString("\n## Adapters\n\n| library | adapter | installed by |\n|---|---|---|\n")
	for _, r := range rows {
		command := "-"
		if len(r.results) > 0 {
			command = "`" + strings.Join(shown(r.results[0].command), " ") + "`"
		}
		fmt.Fprintf(&b, "| %s %s | %s | `%s` |\n", r.language, r.library, command, r.install)
	}
	return b.String()
}

// broken returns the names of the promises that are broken, without those in known.
func broken(v wire.Verification, known []string) (names []string) {
	for _, p := range v.Promises {
		if p.State == "broken" && !slices.Contains(known, p.Promise) && !slices.Contains(names, p.Promise) {
			names = append(names, p.Promise)
		}
	}
	return names
}

func cell(names []string) string {
	if names == nil {
		return "holds"
	}
	return "**" + strings.Join(names, ", ") + "**"
}

// detail describes the broken promises with the given names.
func detail(name string, x result, names []string) string {
	if names == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**, %s:\n\n", name, x.test.name)
	for _, p := range x.judged.Promises {
		if p.State == "broken" && slices.Contains(names, p.Promise) {
			fmt.Fprintf(&b, "- %s: `%s`. %s\n", p.Promise, strings.ReplaceAll(p.Example, "`", "'"), p.Meaning)
		}
	}
	b.WriteString("\n")
	return b.String()
}

// shown returns a command without the folders of one run.
func shown(command []string) []string {
	command = slices.Clone(command)
	for i, word := range command {
		if at := strings.Index(word, "/oid-drivers"); at >= 0 {
			_, rest, _ := strings.Cut(word, ":")
			command[i] = filepath.Base(strings.SplitN(word, ":", 2)[0])
			if rest != "" {
				command[i] = ".:" + rest
			}
		}
	}
	return command
}

func flagsText(t test) string {
	if t.flags == nil {
		return ""
	}
	return "<br>`" + strings.Join(t.flags, " ") + "`"
}

// system describes the machine in a few words.
func system() string {
	out, err := exec.Command("sh", "-c", ". /etc/os-release && printf %s \"$PRETTY_NAME\"").Output()
	if err != nil {
		return runtime.GOOS + "/" + runtime.GOARCH
	}
	return string(out)
}
