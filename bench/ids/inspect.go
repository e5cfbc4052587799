package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/oidkit/oid/bench/page"
)

// inspectTable measures oid inspect of a million ids, and programs that print the times of
// the same ids.
func inspectTable(rounds int) (string, error) {
	dir, err := os.MkdirTemp("", "oid-bench")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	oid, err := buildOID(dir)
	if err != nil {
		return "", err
	}
	ids := filepath.Join(dir, "ids")
	if out, err := exec.Command("sh", "-c", oid+" new -n 1000000 > "+ids).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	from := func(command string) []string { return []string{"sh", "-c", command + " < " + ids} }
	programs := []program{
		{"oid inspect", from(oid + " inspect")},
		{"oid inspect --json", from(oid + " inspect --json")},
		{"oid inspect --json, from a pipe", []string{"sh", "-c", "cat " + ids + " | " + oid + " inspect --json"}},
		{"python3, the time alone", from(`python3 -c 'import sys, datetime
for line in sys.stdin: print(line[:24], datetime.datetime.fromtimestamp(int(line[:8], 16), datetime.UTC if hasattr(datetime, "UTC") else datetime.timezone.utc).isoformat())'`)},
		{"perl, the time alone", from(`perl -MPOSIX=strftime -ne 'print substr($_, 0, 24), " ", strftime("%FT%TZ", gmtime(hex(substr($_, 0, 8)))), "\n"'`)},
	}
	took, err := alternate(rounds, programs)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Ids in a file, printed into a pipe, medians of %d. ratio: below 1 oid is faster. The others print the id and its time only. %s\n\n| a million ids | s | ratio |\n|---|---:|---:|\n",
		rounds, page.Versions("python3", "perl"))
	for i, p := range programs {
		fmt.Fprintf(&b, "| %s | %.2f | %.2f |\n", p.name, page.Median(took[i]), ratio(took[0], took[i]))
	}
	return b.String(), nil
}
