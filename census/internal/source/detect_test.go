package source_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/census/internal/source"
	"github.com/oidkit/oid/internal/testenv"
)

// TestLogsAreNotJSON: a log whose lines begin with brackets is another text, so that the error
// says how to read it; JSON that begins with an array is not a log.
func TestLogsAreNotJSON(t *testing.T) {
	for _, text := range []string{
		"[2021-07-28 19:03:15.486226]   21533   " + idA + "   i=5967\n", "[2026-01-02T03:04:05.678] [INFO] shop - order " + idA + "\n",
		"[Wed Oct 11 14:32:52.123456 2000] [core:error] [pid 35708] AH00124: x\n", "[    0.000000] Linux version 6\n", "\n[main] order " + idA, "[12] x",
	} {
		if _, err := read(t, strings.NewReader(text), nil); !errors.Is(err, source.ErrFormat) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range map[string]int64{
		`[{"_id":"` + idA + `"}]`: 1, "[]": 0, "[1,2] [3]": 0, "[1], [2]": 0, `["` + idA + `"] "x"`: 0, "[\n{\"_id\":\"" + idA + "\"}\n]\n": 1,
		"[ObjectId(" + idA + ")]\n": 0, "[] // nothing\n": 0, "[INFO] {\"_id\":\"" + idA + "\"}\n": 1,
	} {
		r, err := read(t, strings.NewReader(text), nil)
		if errors.Is(err, source.ErrFormat) || r.Strings != want {
			t.Errorf("%q: %d strings, %v, want %d", text, r.Strings, err, want)
		}
	}
}

// TestNeitherTextNorBSON: the error for data without a known form does not advise to look for ids
// in text.
func TestNeitherTextNorBSON(t *testing.T) {
	data := strings.Repeat("\xa7\x01\x99\x1c\x02\x17\xfe\x05", 100)
	_, err := read(t, strings.NewReader(data), nil)
	if !errors.Is(err, source.ErrFormat) || !strings.Contains(err.Error(), "neither text nor BSON: the data may be encrypted or damaged") {
		t.Error(err)
	}
}

// TestTextSequences reads what jq --seq writes, and documents with NUL between them, as GELF is sent.
func TestTextSequences(t *testing.T) {
	jq := testenv.Program(t, "jq", "jq")
	for _, style := range []string{"-c", "--indent 2"} {
		args := append([]string{"--seq", "-n"}, strings.Fields(style)...)
		text := testenv.Run(t, exec.Command(jq, append(args, `range(9) | {"_id": {"$oid": "`+idA+`"}, "n": .}`)...))
		for _, text := range []string{text, strings.ReplaceAll(text, "\x1e", "\x00"), strings.ReplaceAll(text, "\x1e", "\x00")[1:]} {
			if r, err := read(t, strings.NewReader(text), nil); err != nil || r.IDs != 9 || r.Broken() {
				t.Errorf("%q: %d ids, %v", text, r.IDs, err)
			}
		}
	}
}

// TestLastLine counts the last line or document, with and without a newline behind it.
func TestLastLine(t *testing.T) {
	for format, line := range map[census.Format]string{
		census.FormatGrep: "no id", census.FormatList: idA, census.FormatCSV: "_id\n" + idA, census.FormatJSON: `{"_id":"` + idA + `"}`,
		census.FormatBSON: "\x16\x00\x00\x00\x07_id\x00" + "123456789012" + "\x00",
	} {
		for _, end := range []string{"", "\n"} {
			if format == census.FormatBSON {
				end = ""
			}
			if r, err := read(t, strings.NewReader(line+end), &census.Options{Format: format}); err != nil || r.Sources[0].Units != 1 {
				t.Errorf("%s: %d units, %v", format, r.Sources[0].Units, err)
			}
		}
	}
}
