package main

import "testing"

// Bash completes without the package bash-completion, also within a word that it divides.
func TestCompletionInBash(t *testing.T) {
	const tab, clear = "\t", "\x15"
	s := interactiveShell(t)
	s.run("source <(oid completion bash)")
	s.expect("completion bash.*" + prompt)
	for _, c := range []struct{ keys, want string }{
		{"oid insp", "oid inspect "},
		{"oid help exi", "oid help exit-codes "},
		{"oid new --layout=cla", "oid new --layout=classic "},
		{"oid new --layout cla", "oid new --layout classic "},
		{"oid lock --locks redis-", "oid lock --locks redis-sentinel:"},
		{"oid ps --store sqlite:completionba", "oid ps --store sqlite:completionbash_linux_test.go"},
		{"oid find --from=2026-11-20T10:00 --des", "--desc "},
	} {
		s.press(c.keys + tab)
		s.expect(c.want)
		s.press(clear)
	}
}
