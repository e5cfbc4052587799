package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/pure"
	"github.com/oidkit/oid/server/wire"
)

// Ids of every kind in one input, of which the command remembers what they have in common,
// are shown as each is alone, and as encoding/json writes it.
func TestInspectManyAsEach(t *testing.T) {
	lines := linesOfEveryKind(rand.New(rand.NewPCG(1, 2)), 800)
	inspectAll := func(text string, args ...string) (stdout, stderr string) {
		var out, failed bytes.Buffer
		run(t.Context(), streams{strings.NewReader(text), &out, &failed}, append([]string{"inspect"}, args...))
		return out.String(), failed.String()
	}
	ago := regexp.MustCompile(`(  created .*), .*`) // which time changes
	var texts []string
	var asJSON bytes.Buffer
	e := json.NewEncoder(&asJSON)
	e.SetEscapeHTML(false)
	kinds := map[inspect.Format]bool{}
	for i, line := range lines {
		if text, _ := inspectAll(line + "\n"); text != "" {
			texts = append(texts, ago.ReplaceAllString(text, "$1"))
		}
		for found, wrong := range inspect.Scan(strings.NewReader(line + "\n")) {
			report, err := inspect.Inspect(found.Text, nil)
			if wrong != nil || err != nil {
				continue
			}
			kinds[report.Readings[0].Format] = true
			in := pure.Inspection(report)
			in.Found = &wire.Found{Source: "stdin", Line: i + 1, Text: found.Text, Before: found.Before, After: found.After}
			if err := e.Encode(in); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, format := range inspect.Formats() {
		if !kinds[format] {
			t.Errorf("no line has an id of the format %s: add one to linesOfEveryKind", format)
		}
	}
	all := strings.Join(lines, "\n") + "\n"
	for _, c := range []struct {
		want string
		args []string
	}{{strings.Join(texts, "\n"), nil}, {asJSON.String(), []string{"--json"}}} {
		got, errors := inspectAll(all, c.args...)
		if got = ago.ReplaceAllString(got, "$1"); got != c.want {
			t.Errorf("%v: %s", c.args, firstDifference(got, c.want))
		}
		if n := strings.Count(errors, "oid: line "); n < len(lines)/20 {
			t.Errorf("%v: only %d of %d lines are refused", c.args, n, len(lines))
		}
		again, sameErrors := bytes.Buffer{}, bytes.Buffer{}
		piped := struct{ io.Reader }{strings.NewReader(all)} // whose length is not known
		run(t.Context(), streams{piped, &again, &sameErrors}, append([]string{"inspect"}, c.args...))
		if text := ago.ReplaceAllString(again.String(), "$1"); text != got || sameErrors.String() != errors {
			t.Errorf("%v, from a pipe: %s", c.args, firstDifference(text, got))
		}
	}
}

// linesOfEveryKind returns n lines with ids of all formats in many notations, and some
// without an id.
func linesOfEveryKind(random *rand.Rand, n int) (lines []string) {
	characters := func(n int, of string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = of[random.IntN(len(of))]
		}
		return string(b)
	}
	const (
		digits = "0123456789"
		lower  = "abcdefghijklmnopqrstuvwxyz"
		hexes  = "0123456789abcdef"
		ulids  = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	)
	seconds := func() string { return fmt.Sprintf("%08x", 0x50000000+random.Uint32N(0x1c000000)) }
	kinds := []func() string{
		func() string { return seconds() + characters(16, hexes) },
		func() string { return "66b0" + characters(1, hexes) + "000" + characters(16, hexes) }, // often the same second
		func() string { return strings.ToUpper(seconds()) + characters(16, hexes) },
		func() string { return characters(24, hexes) },
		func() string { return seconds() + strings.Repeat("0", 16) },
		func() string { return seconds() + "686c820000" + characters(6, hexes) },
		func() string { return strings.Repeat("0", 24) },
		func() string {
			id := make([]byte, 16)
			copy(id, characters(16, "\x00\x01\x17\x70\x8f\x90\xa1\xff"))
			id[6], id[8] = byte(random.IntN(10))<<4|id[6]&15, id[8]&63|128
			s := hex.EncodeToString(id)
			return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
		},
		func() string { return characters(32, hexes) },
		func() string { return "01" + characters(24, ulids) },
		func() string { return characters(1, "01") + characters(26, digits+lower+"ABC") },
		func() string { return characters(19, digits+"abcdefghijklmnopqrstuv") + characters(1, "0g") },
		func() string { return "1" + characters(14+random.IntN(5), digits) },
		func() string { return characters(3, lower) + "_01" + strings.ToLower(characters(24, ulids)) },
		func() string { return characters(1, lower) + characters(23, digits+lower) },
		func() string { return "-" + characters(19, digits+lower) },
		func() string {
			return "10.0.0." + characters(1, digits) + ":8080:17" + characters(14, digits) + ":4711"
		},
		func() string { return characters(24, hexes+"g") },
		func() string { return characters(1+random.IntN(40), digits+lower) },
	}
	notations := []string{"%s", "%s", "%s", "%s\r", "  %s ", `"%s"`, "'%s'", `ObjectId("%s")`, `{"$oid":"%s"}`, `{"_id":"%s","é<&>":1}`, "%s,", "id=%s é<&>", "0x%s", "", " "}
	for range n {
		notation := notations[random.IntN(len(notations))]
		id := kinds[random.IntN(len(kinds))]()
		if strings.Contains(notation, "%s") {
			notation = fmt.Sprintf(notation, id)
		}
		lines = append(lines, notation)
	}
	return lines
}

// firstDifference returns the first lines in which two texts differ.
func firstDifference(got, want string) string {
	a, b := strings.SplitAfter(got, "\n"), strings.SplitAfter(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is %q, want %q", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// The error about a time in the place of an id names the command that reads it, and that
// command prints the ids of its second.
func TestInspectNamesTheCommandForATime(t *testing.T) {
	for text, want := range map[string]string{
		"1351716000":                        "50918ca00000000000000000 50918ca10000000000000000",
		`ISODate("2012-10-31T20:40:00.5Z")`: "50918ca00000000000000000 50918ca10000000000000000",
		"50918ca0":                          "50918ca00000000000000000 50918ca10000000000000000",
		"12345678":                          "",
	} {
		for _, stdin := range []bool{false, true} {
			var out, failed bytes.Buffer
			args := []string{"inspect", text}
			if stdin {
				args = args[:1]
			}
			if code := run(t.Context(), streams{strings.NewReader(text), &out, &failed}, args); code != 1 || out.Len() > 0 {
				t.Errorf("%q: exit code %d, output %q", text, code, &out)
			}
			_, command, found := strings.Cut(failed.String(), "; run oid ")
			if found != (want != "") {
				t.Errorf("%q: %s", text, &failed)
			} else if !found {
				continue
			}
			if code := run(t.Context(), streams{strings.NewReader(""), &out, &failed}, strings.Fields(command)); code != 0 || strings.Join(strings.Fields(out.String()), " ") != want {
				t.Errorf("%q: oid %s prints %s %s", text, command, &out, &failed)
			}
		}
	}
}
