package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// A process registers with curl, as docs/how-to/adopt.md shows: once, however often it does
// so with one key, and not as another one. It sends a heartbeat and its end.
func TestRegisterByHand(t *testing.T) {
	for _, program := range []string{"curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			testenv.Missing(t, program+" is not installed")
		}
	}
	_, url, log := startServe(t.Context(), t)
	go func() {
		for log.Scan() { // so that the server can write
		}
	}()
	script := testenv.DocBlock(t, adoptPage, "sh", 2, "http://oid:8024", url)
	_, register, _ := strings.Cut(script, "member=")
	register = "member=" + register[:strings.Index(register, "\n")+1]
	again := "first=$member\n" + register + "test $member = $first\n"
	other := strings.NewReplacer("member=", "other=", "4711", "4712", "-sf ", "-s ", "-r .member", "-r .detail").Replace(register) + "echo $other\n"
	script = strings.Replace(script, register, register+again+other, 1) + "curl -sf \"$server/v1/processes?state=ended\"\n"
	out, err := exec.CommandContext(t.Context(), "sh", "-euc", script).Output()
	text := string(out)
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, script, text)
	}
	for _, part := range []string{`"name":"shop"`, `"memory_bytes":12582912`, `"end":{`, "another process was registered with the same key"} {
		if n := strings.Count(text, part); n != 1 {
			t.Errorf("%s %d times, want once: %s", part, n, text)
		}
	}
}
