package main

import "testing"

// Bash completes without the package bash-completion, also within a word that it divides.
func TestCompletionInBash(t *testing.T) {
	const tab, clear = "\t", "\x15"
	s := interactiveShell(t, "OID_STORE=sqlite:"+t.TempDir()+"/s.db")
	s.run("oid insert events '{}'; oid insert eventually '{}'; source <(oid completion bash)")
	s.expect("completion bash.*" + prompt)
	for _, c := range []struct{ keys, want string }{
		{"oid insp", "oid inspect "},
		{"oid help exi", "oid help exit-codes "},
		{"oid new --layout=cla", "oid new --layout=classic "},
		{"oid new --layout cla", "oid new --layout classic "},
		{"oid census --from=2026-11-20T10:00 store:eventu", "store:eventually "},
	} {
		s.press(c.keys + tab)
		s.expect(c.want)
		s.press(clear)
	}
}
