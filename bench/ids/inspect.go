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
	duck, err := page.InstallDuckDB(dir)
	if err != nil {
		return "", err
	}
	from := func(command string) []string { return []string{"sh", "-c", command + " < " + ids} }
	programs := []program{
		{"oid inspect", from(oid + " inspect"), false},
		{"oid inspect --json", from(oid + " inspect --json"), false},
		{"oid inspect --json, from a pipe", []string{"sh", "-c", "cat " + ids + " | " + oid + " inspect --json"}, false},
		{"python3, the time alone", from(`python3 -c 'import sys, time
for line in sys.stdin: print(line[:24], time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(line[:8], 16))))'`), false},
		{"perl, the time alone", from(`perl -ne '@t = gmtime(hex(substr($_, 0, 8))); printf "%.24s %d-%02d-%02dT%02d:%02d:%02dZ\n", $_, $t[5]+1900, $t[4]+1, @t[3, 2, 1, 0]'`), false},
		{"DuckDB, the time alone", duck("COPY (SELECT id, make_timestamp(('0x' || id[1:8])::BIGINT * 1000000) FROM read_csv('" + ids + "', header = false, columns = {'id': 'varchar'}, auto_detect = false)) TO '/dev/stdout' (HEADER false)"), false},
	}
	took, err := alternate(rounds, programs)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Ids in a file, without a registry, printed into a pipe, medians of %d. ratio: below 1 oid is faster. Left out: programs compiled for this alone. %s DuckDB %s.\n\n| a million ids | s | ratio |\n|---|---:|---:|\n",
		rounds, page.Versions("python3", "perl"), page.DuckDBVersion)
	for i, p := range programs {
		fmt.Fprintf(&b, "| %s | %.2f | %.2f |\n", p.name, page.Median(took[i]), ratio(took[0], took[i]))
	}
	return b.String(), nil
}
