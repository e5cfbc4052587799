package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store/sqlitestore"
)

// gpidText finds the times and pids of a GPID, which differ from run to run.
var gpidText = regexp.MustCompile(`\b\d{16}:\d+`)

// The picture of a terminal in README.md is a session that is run here. With
// OID_WRITE_GENERATED=1, as in "make generated", it is drawn.
func TestTerminalPicture(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "takes seconds")
	dir := t.TempDir()
	store := filepath.Join(dir, "shop.db")
	s, err := sqlitestore.Open(t.Context(), store, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m, err := registry.New(s, nil).Register(t.Context(), &registry.RegisterOptions{Name: "shop", Addr: "127.0.0.1:8080"})
	if err != nil {
		t.Fatal(err)
	}
	id := m.Generator().New()
	if err := m.End(t.Context(), "shut down"); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, command := range []string{
		"oid new -n 2",
		"oid inspect 507f1f77bcf86cd799439011 | head -3",
		"oid range --from 2026-11-01 --to 2026-12-01 --for mongosh",
		"oid trace " + id.String() + " | sed -n '1p;3,4p'",
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command) // TestMain has put oid into the path
		cmd.Env = append(os.Environ(), "HOME="+dir, "OID_STORE=sqlite:"+store, "TZ=UTC")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		lines = append(lines, "$ "+command)
		lines = append(lines, strings.Split(strings.TrimSpace(string(out)), "\n")...)
	}
	want := terminalSVG(lines)
	const file = "docs/terminal.svg"
	got, err := os.ReadFile(filepath.Join("../..", file))
	if err != nil && os.Getenv("OID_WRITE_GENERATED") != "1" {
		t.Fatal(err)
	}
	varying := func(s string) string { return gpidText.ReplaceAllString(changing.ReplaceAllString(s, "~"), "~") }
	if varying(string(got)) == varying(want) {
		return // ids and times alone would not be worth a new picture
	}
	generated(t, file, want)
}

// terminalSVG draws the lines of a session, for light and dark screens.
func terminalSVG(lines []string) string {
	const width, height, margin = 8.43, 21, 16 // of a character, of a line, around all
	columns := 0
	for _, l := range lines {
		columns = max(columns, len(l))
	}
	w, h := int(float64(columns)*width)+2*margin, len(lines)*height+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="A session at a terminal">`+"\n", w, h, w, h)
	b.WriteString(`<style>
rect { fill: #f6f8fa; stroke: #d0d7de }
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; white-space: pre }
.command { fill: #0550ae; font-weight: 600 }
@media (prefers-color-scheme: dark) {
  rect { fill: #161b22; stroke: #30363d }
  text { fill: #e6edf3 }
  .command { fill: #79c0ff }
}
</style>
`)
	fmt.Fprintf(&b, `<rect x="0.5" y="0.5" width="%d" height="%d" rx="8"/>`+"\n", w-1, h-1)
	for i, l := range lines {
		class := ""
		if strings.HasPrefix(l, "$ ") {
			class = ` class="command"`
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d"%s>`, margin, margin+i*height+15, class)
		_ = xml.EscapeText(&b, []byte(l)) // a strings.Builder takes everything
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}
