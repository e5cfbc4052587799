package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/objectid/sealed"
)

// sealCase is a text that a program opens under a kind and two keys.
type sealCase struct {
	Kind string   `json:"kind"`
	Keys []string `json:"keys"`
	Text string   `json:"text"`
	ID   string   `json:"id"` // empty if it must not open
}

// How the programs of examples/sealed are asked: they write the id, or nothing, and the id sealed
// again under the key that sealed it.
const (
	askPython = `
import json, sys
for line in sys.stdin:
    c = json.loads(line)
    try:
        id = open_sealed(c["kind"], c["keys"], c["text"])
        print(id.hex(), seal(c["kind"], c["keys"][1], id))
    except ValueError:
        print()
`
	askJavaScript = `
import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const c = JSON.parse(line);
  try {
    const id = open(c.kind, c.keys, c.text);
    console.log(id.toString("hex"), seal(c.kind, c.keys[1], id));
  } catch (e) {
    if (e.message !== "not a sealed id") throw e;
    console.log();
  }
}
`
)

// The programs of examples/sealed seal and open as package sealed does.
func TestSealedPrograms(t *testing.T) {
	cases := sealCases(t)
	if len(cases) < 350 {
		t.Fatalf("%d cases", len(cases))
	}
	var input strings.Builder
	for _, c := range cases {
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		input.Write(append(line, '\n'))
	}
	for _, p := range []struct{ program, file, ask string }{
		{"/usr/bin/python3", "sealed.py", askPython},
		{"node", "sealed.mjs", askJavaScript},
	} {
		if p.file == "sealed.py" && exec.Command(p.program, "-c", "import cryptography").Run() != nil {
			testenv.Missing(t, "the Python package cryptography is not installed: apt-get install python3-cryptography")
		}
		if _, err := exec.LookPath(p.program); err != nil {
			testenv.Missing(t, "Node.js is not installed: apt-get install nodejs")
		}
		text, err := os.ReadFile("../../examples/sealed/" + p.file)
		file := filepath.Join(t.TempDir(), p.file)
		if err := errors.Join(err, os.WriteFile(file, append(text, p.ask...), 0o600)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(p.program, file)
		cmd.Stdin = strings.NewReader(input.String())
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		if err != nil || len(lines) != len(cases) {
			t.Errorf("%s: %v, %d lines for %d cases\n%s", p.file, err, len(lines), len(cases), stderr.String())
			continue
		}
		for i, c := range cases {
			want := ""
			if c.ID != "" {
				want = c.ID + " " + c.Text
			}
			if lines[i] != want {
				t.Errorf("%s: %+v: %q, want %q", p.file, c, lines[i], want)
			}
		}
	}
}

// sealCases returns texts that open, and many like them that do not, as package sealed
// judges them.
func sealCases(t *testing.T) (all []sealCase) {
	keys := []string{strings.Repeat("ab", 32), "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"}
	var read []sealed.Key
	for _, text := range keys {
		key, err := sealed.ParseKey(text)
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, key)
	}
	for _, kind := range []string{"order", "café"} {
		o := sealed.Options{Kind: kind, Keys: read}
		both, err := sealed.New(&o)
		if err != nil {
			t.Fatal(err)
		}
		o.Keys = read[1:]
		last, err := sealed.New(&o)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, id := range []string{"507f1f77bcf86cd799439011", "000000000000000000000000", "ffffffffffffffffffffffff"} {
			texts = append(texts, last.Seal(objectid.MustParse(id)))
		}
		genuine := texts[0]
		for i := range genuine {
			for _, c := range []string{"A", "0", "-", "=", "+", "\n", "é", "８", ""} {
				texts = append(texts, genuine[:i]+c+genuine[i+1:])
			}
		}
		end := len(genuine) - 1
		texts = append(texts, "", "=", genuine+"=", genuine+"==", genuine+"\n", " "+genuine, strings.ToUpper(genuine), genuine[:end]+"x", genuine[:end]+"B", genuine+genuine,
			"{"+genuine+"}", strings.ReplaceAll(genuine, "_", ""), "00000000-0000-0000-0000-000000000000", strings.Repeat("A", 22), strings.Repeat("A", 38))
		slices.Sort(texts)
		for _, text := range slices.Compact(texts) {
			c := sealCase{Kind: kind, Keys: keys, Text: text}
			if id, err := both.Open(text); err == nil {
				c.ID = id.String()
			}
			all = append(all, c)
		}
	}
	return all
}

// The vectors of the page are what package sealed returns.
func TestSealedVectors(t *testing.T) {
	_, table, _ := strings.Cut(readDocuments(t)["docs/explanation/sealed-ids.md"], "| key | kind | id | sealed id |\n|---|---|---|---|\n")
	n := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if len(cells) != 4 {
			break
		}
		n++
		key, err := sealed.ParseKey(cells[0])
		if err != nil {
			t.Fatal(err)
		}
		s, err := sealed.New(&sealed.Options{Kind: cells[1], Keys: []sealed.Key{key}})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Seal(objectid.MustParse(cells[2])); got != cells[3] {
			t.Errorf("%s %s: the page has %s, want %s", cells[1], cells[2], cells[3], got)
		}
	}
	if n != 5 {
		t.Errorf("docs/explanation/sealed-ids.md has %d vectors, want 5", n)
	}
}
