package main

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/lock"

	"github.com/oidkit/oid/census"
)

// helpOf returns what "oid help NAME" prints.
func helpOf(t *testing.T, name string) string {
	t.Helper()
	var out strings.Builder
	root, _ := newRoot(streams{in: strings.NewReader(""), out: &out, err: io.Discard})
	root.SetOut(&out)
	root.SetArgs([]string{"help", name})
	if err := root.Execute(); err != nil {
		t.Fatalf("oid help %s: %v", name, err)
	}
	return out.String()
}

// The help of a command is short, with its flags: the details are topics, to which it leads.
func TestHelpIsShort(t *testing.T) {
	for command, most := range map[string]int{"census": 250, "lock": 290} {
		help := helpOf(t, command)
		if n := len(strings.Fields(help)); n > most {
			t.Errorf("oid help %s has %d words, want %d at most: move details to a topic", command, n, most)
		}
		if !strings.Contains(help, "oid help "+command+"-") {
			t.Errorf("oid help %s names no topic", command)
		}
	}
}

// Each topic that a help names is there, and a help leads to each topic.
func TestHelpTopics(t *testing.T) {
	named := map[string]bool{}
	root, _ := newRoot(streams{out: io.Discard, err: io.Discard})
	for _, c := range root.Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			continue
		}
		for _, m := range regexp.MustCompile(`oid help ([a-z-]+)`).FindAllStringSubmatch(helpOf(t, c.Name()), -1) {
			named[m[1]] = true
			helpOf(t, m[1])
		}
	}
	for _, c := range root.Commands() {
		if c.IsAdditionalHelpTopicCommand() && !named[c.Name()] {
			t.Errorf("no help leads to the topic %s", c.Name())
		}
	}
}

// The help about the sources of a census names each format, if only by its flag.
func TestHelpNamesFormats(t *testing.T) {
	for _, format := range census.Formats() {
		if format != census.FormatAuto && !strings.Contains(strings.ToLower(censusSourcesHelp), string(format)) {
			t.Errorf("oid help census-sources does not name the format %s: say there, beside \"a file\", what it is", format)
		}
	}
}

// Help and documents use the words of docs/glossary.md, and no quaint ones.
func TestWords(t *testing.T) {
	avoided := regexp.MustCompile(`(?i)\b(whoever|anew|thereof|born|enroll(ed|s)?|until they part|makes of|takes along)\b`)
	texts := readDocuments(t)
	root, _ := newRoot(streams{out: io.Discard, err: io.Discard})
	for _, c := range root.Commands() {
		texts["oid help "+c.Name()] = helpOf(t, c.Name())
	}
	for name, text := range texts {
		for line := range strings.Lines(text) {
			if word := avoided.FindString(line); word != "" {
				t.Errorf("%s: %q, an avoided word: %s", name, word, line)
			}
		}
	}
}

// Each schedule in the help about --once is accepted, and so are all forms of lock.ParseSchedule
// in the help.
func TestHelpShowsSchedules(t *testing.T) {
	var shown []string
	for _, m := range regexp.MustCompile(`(?m)^  ('.+?'|\S+)  |(@[a-z]+)|'(CRON_TZ=.+?)'`).FindAllStringSubmatch(onceHelp, -1) {
		text := strings.Trim(m[1]+m[2]+m[3], "'")
		shown = append(shown, text)
		if _, err := lock.ParseSchedule(text); err != nil {
			t.Errorf("the help shows %q: %v", text, err)
		}
	}
	for _, want := range []string{"10m", "30 2 * * *", "@hourly", "@daily", "@weekly", "@monthly", "@yearly", "key=2026-11-24", "CRON_TZ=Europe/Berlin 30 2 * * *"} {
		if !slices.Contains(shown, want) {
			t.Errorf("the help does not show %q; it shows %q", want, shown)
		}
	}
}
