package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// The scripts below write words in two parts, so that the echo of what was typed
// does not match what the command writes.

// ask is a command that reads a line from the terminal, whatever its stdin is.
const ask = `sh -c 'echo as""ked; read a </dev/tty; echo got "<$a>"'`

func TestLockPromptOnTheTerminal(t *testing.T) {
	s := interactiveShell(t)
	for _, stdin := range []string{"", " </dev/null"} {
		s.run("oid lock job -- " + ask + stdin)
		s.expect("asked")
		s.run("hello")
		s.expect("got <hello>.*" + prompt)
	}
}

// The command has the terminal from its start, and in a pipeline not before it asks.
func TestLockCommandIsTheForegroundJob(t *testing.T) {
	s := interactiveShell(t)
	// Fields 5 and 8 are the process group and that of the terminal's foreground.
	const where = `sh -c 'read -r line </proc/self/stat; set -- $line; [ $5 = $8 ] && echo in fr""ont || echo beh""ind'`
	s.run("oid lock job -- " + where)
	s.expect("in front.*" + prompt)
	s.run("oid lock job -- " + where + " | cat")
	s.expect("behind.*" + prompt)
}

func TestLockStopsAndContinuesLikeAnyJob(t *testing.T) {
	s := interactiveShell(t)
	s.run("oid lock job -- " + ask)
	s.expect("asked")
	s.press(ctrlZ)
	s.expect("Stopped.*" + prompt)
	s.run("oid lock --status job")
	s.expect("job: held by .*" + prompt)
	s.run("fg")
	s.expect("oid lock job")
	s.run("after fg")
	s.expect("got <after fg>.*" + prompt)
	s.run("oid lock --status job")
	s.expect("job: free.*" + prompt)
}

// After fg the command has the terminal at once, as it had before. (The command is not
// dash: that hangs when a program is stopped that it is just starting by vfork.)
func TestLockCommandIsInFrontAgain(t *testing.T) {
	s := interactiveShell(t)
	s.run(`oid lock job -- bash -c 'trap "read -r line </proc/self/stat; set -- \$line; [ \$5 = \$8 ] && echo in fr\"\"ont || echo beh\"\"ind" CONT; trap "exit 0" INT; echo wor""king; while :; do sleep 0.02; done'`)
	s.expect("working")
	s.press(ctrlZ)
	s.expect("Stopped.*" + prompt)
	s.run("fg")
	s.expect("\r\nin front")
	s.press(ctrlC)
	s.expect(prompt)
}

func TestLockEndsWithCtrlC(t *testing.T) {
	s := interactiveShell(t)
	s.run(`oid lock job -- sh -c 'echo wor""king; exec sleep 1000'`)
	s.expect("working")
	s.press(ctrlC)
	s.expect(prompt)
	s.run("echo code $?.")
	s.expect(`code 130\.`)
}

// Ctrl-C ends the script in which oid runs as well, unless the command ends in
// another way than by the signal.
func TestLockInAScriptEndsWithCtrlC(t *testing.T) {
	s := interactiveShell(t)
	for trap, want := range map[string]string{"-": "", "'exit 7'": "went on after 7\r\n"} {
		script := filepath.Join(t.TempDir(), "script")
		text := `oid lock job -- sh -c "trap ` + trap + ` INT; echo working; while :; do sleep 0.01; done"
echo went on after $?`
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.run("bash " + script)
		s.expect("working\r\n")
		s.press(ctrlC)
		if seen := s.expect(prompt); !strings.HasSuffix(strings.TrimLeft(seen, "^C\r\n"), want+prompt) || want == "" && strings.Contains(seen, "went on") {
			t.Errorf("after Ctrl-C to a command with trap %s the terminal shows %q, want %q", trap, seen, want+prompt)
		}
	}
}

// A job of the background stops when it wants the terminal, and gets it with fg.
func TestLockInTheBackgroundAsksForTheTerminal(t *testing.T) {
	s := interactiveShell(t)
	s.run("oid lock job -- " + ask + " &")
	s.expect("asked")
	s.run("until jobs | grep Stopped; do :; done")
	s.expect("Stopped.*" + prompt)
	s.run("fg")
	s.expect("oid lock job")
	s.run("now")
	s.expect("got <now>.*" + prompt)
}

// fg of a job that runs tells it nothing: the command gets the terminal when it
// asks for it.
func TestLockBroughtToTheForegroundWhileItRuns(t *testing.T) {
	s := interactiveShell(t)
	s.run(`mkfifo go; oid lock job -- sh -c 'echo run""ning; read x <go; read a </dev/tty; echo got "<$a>"' &`)
	s.expect("running")
	s.run("(sleep 0.2; echo >go) & fg %1")
	s.expect("fg %1.*oid lock job")
	s.run("here")
	s.expect("got <here>.*" + prompt)
}

// In a pipeline the others of the job get the terminal back when they ask.
func TestLockInAPipeline(t *testing.T) {
	s := interactiveShell(t)
	s.run("oid lock job -- " + ask + ` | sh -c 'cat; read b </dev/tty; echo then "<$b>"'`)
	s.expect("asked")
	s.run("one")
	s.expect("got <one>")
	s.run("two")
	s.expect("then <two>.*" + prompt)
}

// While the command runs, another of the pipeline gets the terminal when it asks, as
// a pager does.
func TestLockBesideAPager(t *testing.T) {
	s := interactiveShell(t)
	s.run(`oid lock job -- sh -c 'read a </dev/tty; echo got "<$a>"; exec sleep 1000' | sh -c 'read l; echo "$l"; read b </dev/tty; echo then "<$b>"; cat'`)
	s.run("one")
	s.expect("got <one>")
	s.run("two")
	s.expect("then <two>")
	s.press(ctrlC)
	s.expect(prompt)
}

// What the command has left holds the lock, and Ctrl-C reaches oid, which ends it.
func TestLockEndsWhatIsLeftWithCtrlC(t *testing.T) {
	s := interactiveShell(t)
	s.run(`oid lock job -- sh -c 'sleep 1000 & echo le""ft'`)
	s.expect("left\r\n.*the command has ended; the lock is held")
	s.press(ctrlC)
	s.expect(prompt)
	s.run("oid lock --status job")
	s.expect("job: free.*" + prompt)
}

// Ctrl-Z for longer than the TTL: another gets the lock, and the command must not go on.
func TestLockThatLapsedWhileStopped(t *testing.T) {
	server := testenv.Redis(t)
	s := interactiveShell(t, "OID_LOCKS="+server.URL())
	log := filepath.Join(t.TempDir(), "log")
	s.run(`oid lock job --ttl 1s -- sh -c 'echo wor""king; read a; echo first went on >>` + log + `'`)
	s.expect("working")
	s.press(ctrlZ)
	s.expect("Stopped.*" + prompt)
	s.run(`oid lock job -- sh -c 'echo second >>` + log + `'; cat ` + log)
	s.expect("second\r\n.*" + prompt)
	s.run("fg")
	s.expect("the lock was lost.*" + prompt)
	s.run("echo code $?.; cat " + log)
	s.expect(`code 113\.`)
	if seen := s.expect("second\r\n.*" + prompt); seen != "\r\nsecond\r\n"+prompt {
		t.Errorf("the log has %q: the command went on after its lock had lapsed", seen)
	}
}

func TestLockWithAnEditor(t *testing.T) {
	if _, err := exec.LookPath("vi"); err != nil {
		testenv.Missing(t, "vi is not installed: apt-get install vim-tiny")
	}
	s := interactiveShell(t, "TERM=xterm", "EXINIT=")
	text := filepath.Join(t.TempDir(), "text")
	s.run("oid lock job -- vi -u NONE " + text)
	s.expect(`\[New`)
	s.press(":r !echo hel''lo\r")
	s.expect("hello")
	s.press(ctrlZ)
	s.expect("Stopped.*" + prompt)
	s.run("fg")
	s.expect("hello")
	s.press(":wq\r")
	s.expect(prompt)
	s.run("cat " + text)
	s.expect("hello\r\n.*" + prompt)
}

// At a terminal oid asks before it breaks a lock. Only yes breaks it, and Ctrl-C ends oid.
func TestLockBreakAsks(t *testing.T) {
	s := interactiveShell(t, "OID_LOCKS=sqlite:"+filepath.Join(t.TempDir(), "s.db"))
	s.run(`oid lock job --ttl 3s -- sleep 1000 2>/dev/null &`)
	s.expect(prompt)
	s.run("until oid lock --status job | grep held; do sleep 0.1; done")
	s.expect("job: held by .*" + prompt)
	for _, no := range []string{"", "n", "yesterday"} {
		s.run("oid lock --break job; echo code $?.")
		s.expect(`job: held by .*break this lock\?.*\(y/N\) `)
		s.run(no)
		s.expect(`the lock was not broken.*code 1\.`)
	}
	s.run("oid lock --break job")
	s.expect(`\(y/N\) `)
	s.press(ctrlC)
	s.expect(prompt)
	s.run("echo code $?.; oid lock --status job")
	s.expect(`code 130\..*job: held by .*` + prompt)
	s.run("oid lock --break job; echo code $?.")
	s.expect(`\(y/N\) `)
	s.run("y")
	s.expect(`the lock is broken; every later holder has a fence of at least [0-9]+.*code 0\.`)
}
