package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

// outcome is the exit code and the output of a command.
type outcome struct {
	code     int
	out, err string
}

// oid runs a command line with this standard input.
func oid(t *testing.T, in string, args ...string) outcome {
	t.Helper()
	var out bytes.Buffer
	var errs sharedBuffer
	code := run(t.Context(), streams{strings.NewReader(in), &out, &errs}, args)
	return outcome{code, out.String(), errs.b.String()}
}

// sharedBuffer is a buffer for several goroutines: the errors of programs that a command
// runs at once. A file needs none.
type sharedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *sharedBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *sharedBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// eachStore runs a test on a store of each kind, which OID_STORE names.
func eachStore(t *testing.T, test func(t *testing.T)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Setenv("OID_STORE", "sqlite:"+filepath.Join(t.TempDir(), "s.db"))
		test(t)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Setenv("OID_STORE", testenv.PostgresSchema(t, testenv.PostgresURL(t)))
		test(t)
	})
	t.Run("mongodb", func(t *testing.T) {
		t.Setenv("OID_STORE", testenv.MongoDB(t))
		test(t)
	})
}

func TestStoreCommands(t *testing.T) {
	eachStore(t, func(t *testing.T) {
		id := objectid.New().String()
		doc := fmt.Sprintf(`{"_id":{"$oid":"%s"},"kind":"start","n":{"$numberLong":"5000000000"},"at":{"$date":"2026-11-20T10:00:00Z"}}`, id)
		relaxed := strings.Replace(doc, `{"$numberLong":"5000000000"}`, "5000000000", 1) + "\n"
		for _, step := range []struct {
			in   string
			args string
			want outcome
		}{
			{"", "insert events " + doc, outcome{0, id + "\n", ""}},
			{"", "insert events " + doc, outcome{1, "", "oid: duplicate _id: " + id + "\n"}},
			{"{\"_id\":1}\n\n  {\"_id\":\"a\",\n{\"_id\":1.0}\r\n[1]\n{\"_id\":2} x\n{\"_id\":true}\n{\"_id\":\"a\"}", "insert events", outcome{
				1, "1\n\"a\"\n", "oid: line 3: not JSON: unexpected end of JSON input\n" +
					"oid: line 4: duplicate _id: 1\n" +
					"oid: line 5: not a JSON object\n" +
					"oid: line 6: not JSON: invalid character 'x' after top-level value\n" +
					"oid: line 7: invalid _id: BSON type boolean, want a number, a string or an ObjectId\n",
			}},
			{"\ufeff{\"_id\":3}\n{\"_id\":3}\n{\"_id\":4}\n", "insert events --stop-on-error --json -", outcome{1, "{\"_id\":3}\n", "oid: line 2: duplicate _id: 3\n"}},
			{"{\"_id\":5}\nx\n{\"_id\":6}\n", "insert events --stop-on-error", outcome{1, "5\n", "oid: line 2: not JSON: invalid character 'x' looking for beginning of value\n"}},
			{"", "find events", outcome{0, "{\"_id\":1}\n{\"_id\":3}\n{\"_id\":5}\n{\"_id\":\"a\"}\n" + relaxed, ""}},
			{"", "find events --since 1h", outcome{0, relaxed, "oid: 4 documents are left out: their _id is no ObjectId and has no time\n"}},
			{"", "find events --to -1h", outcome{0, "", "oid: 4 documents are left out: their _id is no ObjectId and has no time\n"}},
			{"", "find events --desc --limit 2", outcome{0, relaxed + "{\"_id\":\"a\"}\n", ""}},
			{"", "find events --after 3 -n 1", outcome{0, "{\"_id\":5}\n", ""}},
			{"", "find events --count", outcome{0, "5\n", ""}},
			{"", "find nothing", outcome{1, "", "oid: there is no collection \"nothing\"; the store has the collections events\n"}},
			{"", "find nothing --count", outcome{1, "", "oid: there is no collection \"nothing\"; the store has the collections events\n"}},
			{"", `get events "a" ` + id + " 1", outcome{0, "{\"_id\":\"a\"}\n" + relaxed + "{\"_id\":1}\n", ""}},
			{"3\n\n7\nx\n" + id + "\n", "get events", outcome{1, "{\"_id\":3}\n" + relaxed, "oid: not found: no document has the _id 7\noid: invalid _id: \"x\", want 24 hexadecimal digits, a number, a string in quotes as in '\"name\"', or another value in Extended JSON\n"}},
			{"", "collections", outcome{0, "events\n", ""}},
			{"", "collections --json", outcome{0, "{\"collection\":\"events\"}\n", ""}},
			{"", "delete events 1 7", outcome{1, "1\n", "oid: not found: no document has the _id 7\n"}},
			{"", "delete events --since 1h", outcome{0, "1\n", "oid: 3 documents are left out: their _id is no ObjectId and has no time\n"}},
			{"", "delete events --all --json --yes", outcome{0, "{\"documents\":3}\n", ""}},
			{"", "find events", outcome{0, "", ""}},
		} {
			if got := oid(t, step.in, strings.Split(step.args, " ")...); got != step.want {
				t.Errorf("oid %s: got\n%+v, want\n%+v", step.args, got, step.want)
			}
		}
	})
}

func TestStoreCommandsRefuse(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("OID_STORE", "sqlite:"+filepath.Join(dir, "s.db"))
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		in   string
		args []string
		code int
		err  string
	}{
		{"", []string{"find", "c"}, 1, `create it with "oid insert"`},
		{"", []string{"insert", "c", `{"d":` + strings.Repeat(`{"d":`, 200) + "1" + strings.Repeat("}", 201)}, 1, "deep"},
		{`{"s":"` + strings.Repeat("x", 17<<20) + `"}`, []string{"insert", "c"}, 1, "16 MiB"},
		{strings.Repeat("x", 64<<20+1), []string{"insert", "c"}, 1, "line 1 is longer than 64 MiB; documents stored before this error: 0"},
		{"{\"s\":\"\xff\"}", []string{"insert", "c"}, 1, "line 1: not UTF-8"},
		{"", []string{"insert", "c", `{"_id":{"$oid":"xyz"}}`}, 1, "not Extended JSON"},
		{"", []string{"insert", "c", "null"}, 1, "not a JSON object"},
		{"", []string{"insert", "c", `{"_id":null}`}, 1, "leave it out"},
		{"", []string{"insert", "c", `{"a\u0000":1}`}, 1, "invalid document"},
		{"", []string{"insert", "a$b", "{}"}, 2, "NUL or $"},
		{"", []string{"insert", "a\x00b", "{}"}, 2, "NUL or $"},
		{"", []string{"find", strings.Repeat("x", 300)}, 2, "300 bytes"},
		{"", []string{"find", "c", "--limit", "-1"}, 2, "--limit"},
		{"", []string{"find", "c", "--after", "alice"}, 2, "in quotes"},
		{"", []string{"find", "c", "--since", "someday"}, 2, "someday"},
		{"", []string{"find", "c", "--count", "--limit", "1"}, 2, "--count"},
		{"", []string{"get", "c", "507f1f77bcf86cd79943901"}, 2, "24 hexadecimal digits"},
		{"", []string{"delete", "c"}, 2, "say which documents to delete"},
		{"", []string{"delete", "c", "1", "--all"}, 2, "say which documents to delete"},
		{"", []string{"find", "c", "--store", "redis://localhost"}, 2, `"redis:"`},
		{"", []string{"find", "c", "--store", "s.db"}, 2, "sqlite:PATH"},
		{"", []string{"find", "c", "--store", "./s.db"}, 2, "sqlite:PATH"},
		{"", []string{"find", "c", "--store", "sqlite:"}, 2, "sqlite:PATH"},
		{"", []string{"find", "c", "--store", "sqlite:" + dir}, 1, "it is a folder"},
		{"", []string{"insert", "c", "{}", "--store", "sqlite:" + text}, 1, "not a SQLite database"},
		{"", []string{"insert", "c", "{}", "--store", "sqlite:/missing/s.db"}, 1, "its folder"},
		{"", []string{"find", "c", "--store", "mongodb://user:secret@localhost:x"}, 2, "port"},
		{"", []string{"find", "c", "--store", "postgres://user:secret@127.0.0.1:1/db"}, 1, "PostgreSQL at 127.0.0.1:1 does not answer (connection refused); check that it is running and that the URL names its host and port\n"},
		{"", []string{"find", "c", "--store", "mongodb://user:secret@127.0.0.1:1/db?serverSelectionTimeoutMS=300"}, 1, "MongoDB at 127.0.0.1:1 does not answer (connection refused); check that it is running and that the URL names its host and port\n"},
		{"", []string{"find", "c", "--store", "postgres://user:secret@localhost:x/db"}, 2, "port"},
		{"", []string{"find", "c", "--store", "postgres://user:secret@localhost/db?oid_schema=pg_x"}, 2, "oid_schema"},
	} {
		got := oid(t, test.in, test.args...)
		if got.code != test.code || got.out != "" || !strings.Contains(got.err, test.err) || !strings.HasPrefix(got.err, "oid: ") || strings.Contains(got.err, "secret") {
			t.Errorf("oid %.80q: %d, %.80q, %.300q, want %d, nothing, %q", test.args, got.code, got.out, got.err, test.code, test.err)
		}
	}
	if got := oid(t, "", "find", "c", "--count"); got.code != 1 || !strings.Contains(got.err, "the database has no collections") {
		t.Errorf("afterwards: %+v", got)
	}
}

func TestDefaultStore(t *testing.T) {
	home := t.TempDir()
	t.Setenv("OID_STORE", "")
	t.Setenv("HOME", home)
	t.Setenv("XDG_DATA_HOME", filepath.Join(home, "data"))
	if got := oid(t, "", "find", "c"); got.code != 1 || !strings.Contains(got.err, "no such file") {
		t.Errorf("find before anything is stored: %+v", got)
	}
	if got := oid(t, "", "insert", "c", `{"_id":1}`); got.code != 0 {
		t.Fatalf("insert: %+v", got)
	}
	if got := oid(t, "", "find", "c"); got.out != "{\"_id\":1}\n" {
		t.Errorf("find: %+v", got)
	}
	if _, err := os.Stat(filepath.Join(home, "data", "oid", "store.db")); err != nil {
		t.Error(err)
	}
	for system, want := range map[string]string{"linux": filepath.Join(home, "data"), "darwin": filepath.Join(home, "Library", "Application Support")} {
		if got, err := dataFolder(system); got != want || err != nil {
			t.Errorf("data folder of %s = %s, %v, want %s", system, got, err, want)
		}
	}
}

// TestStoreEngines finds the engine of a URL of each scheme, and the engine in the help.
func TestStoreEngines(t *testing.T) {
	t.Setenv("OID_STORE", "")
	want := map[string]string{ // URLs by scheme
		"sqlite": "sqlite:/tmp/a", "postgres": "postgres://h/d", "postgresql": "postgresql://h/d",
		"mongodb": "mongodb://h/d", "mongodb+srv": "mongodb+srv://h/d", "memory": "memory:",
	}
	for _, e := range storeEngines {
		for _, scheme := range e.schemes {
			if want[scheme] == "" {
				t.Errorf("no vector for stores with the scheme %s: add a URL to this test", scheme)
				continue
			}
			if got, err := (&storeFlag{want[scheme], true}).engine(); err != nil || got.name != e.name {
				t.Errorf("%s is in %v, %v, want %s", want[scheme], got, err, e.name)
			}
			if e.trial { // refused by all commands but one, so that nothing is lost
				for _, f := range []storeFlag{{"memory:", false}, {"memory:x", true}} {
					if _, err := f.engine(); err == nil || !strings.Contains(err.Error(), `only "oid serve"`) {
						t.Errorf("%+v: %v", f, err)
					}
				}
				if _, err := lockEngineOf(want[scheme]); err == nil {
					t.Errorf("locks are held in %s", want[scheme])
				}
				continue
			}
			if _, err := (&storeFlag{scheme + ":", false}).engine(); err == nil || !strings.Contains(err.Error(), e.url) {
				t.Errorf("%s: alone: %v, want an error that says to write %s", scheme, err, e.url)
			}
			if l, err := lockEngineOf(want[scheme]); err != nil || !slices.Contains(l.schemes, scheme) {
				t.Errorf("locks at %s: %v, %v", want[scheme], l, err)
			}
		}
		if !strings.Contains(storeHelp, e.url) {
			t.Errorf("the help of stores does not say how to write the URL of one in %s, %q", e.name, e.url)
		}
		if strings.Contains(locksHelp, " "+e.url) == e.trial {
			t.Errorf("the help of locks has %q of %s: %t, want %t", e.url, e.name, e.trial, !e.trial)
		}
	}
	if got, err := (&storeFlag{}).engine(); err != nil || got.name != "SQLite" {
		t.Errorf("the default is in %v, %v", got, err)
	}
	t.Setenv("OID_STORE", "postgres://h/d")
	if got, err := (&storeFlag{}).engine(); err != nil || got.name != "PostgreSQL" {
		t.Errorf("OID_STORE is in %v, %v", got, err)
	}
	for _, url := range []string{"nothing://h:secret@x", "app.db", "u:secret@h/d"} {
		if e, err := (&storeFlag{url, false}).engine(); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, %v, want an error without the password", url, e, err)
		}
	}
}

// answering runs a command in the background. It returns the lines that it writes, and
// where its exit code comes.
func answering(ctx context.Context, in io.Reader, args ...string) (answers *bufio.Scanner, done <-chan int) {
	read, out := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, streams{in, out, os.Stderr}, args)
		out.Close()
	}()
	return bufio.NewScanner(read), code
}

// An id is printed as soon as its document is stored, before the next line arrives.
func TestInsertAnswersLineByLine(t *testing.T) {
	eachStore(t, func(t *testing.T) {
		in, lines := io.Pipe()
		answers, done := answering(t.Context(), in, "insert", "c")
		for i := range 5 {
			fmt.Fprintf(lines, "{\"_id\":%d}\n", i)
			if !answers.Scan() || answers.Text() != fmt.Sprint(i) {
				t.Fatalf("answer %q, want %d", answers.Text(), i)
			}
			if got := oid(t, "", "get", "c", fmt.Sprint(i)); got.code != 0 {
				t.Errorf("document %d is not there when its id is printed: %+v", i, got)
			}
		}
		lines.Close()
		if code := <-done; code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}

// With --stop-on-error, insert ends at the first document that is refused, and stores
// nothing that arrives later.
func TestInsertStops(t *testing.T) {
	eachStore(t, func(t *testing.T) {
		in, lines := io.Pipe()
		answers, done := answering(t.Context(), in, "insert", "c", "--stop-on-error")
		fmt.Fprintln(lines, `{"_id":1}`)
		if !answers.Scan() || answers.Text() != "1" {
			t.Errorf("answer %q", answers.Text())
		}
		go func() { // nobody may read the last line
			fmt.Fprint(lines, "{\"_id\":1}\n")
			fmt.Fprint(lines, "{\"_id\":2}\n")
			lines.Close()
		}()
		for answers.Scan() {
			t.Errorf("answer %q", answers.Text())
		}
		in.Close()
		if code := <-done; code != exitFailed {
			t.Errorf("exit code %d, want %d", code, exitFailed)
		}
		if got := oid(t, "", "find", "c", "--count"); got.out != "1\n" {
			t.Errorf("%+v", got)
		}
	})
}

// A reader of the ids that goes away must not end the storing with success.
func TestInsertWithoutReader(t *testing.T) {
	t.Setenv("OID_STORE", "sqlite:"+filepath.Join(t.TempDir(), "s.db"))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	var errs bytes.Buffer
	if code := run(t.Context(), streams{strings.NewReader("{}\n"), w, &errs}, []string{"insert", "c"}); code != 1 || !strings.Contains(errs.String(), "print ids") {
		t.Errorf("exit code %d, %q", code, errs.String())
	}
}

// TestInsertKilled kills the command with its input half read: what it has
// printed must be stored.
func TestInsertKilled(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "s.db")
	t.Setenv("OID_STORE", url)
	for round := range 10 {
		cmd := exec.CommandContext(t.Context(), "oid", "insert", "c") // TestMain has put it into the path
		cmd.Stdin = endless{}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for s := bufio.NewReader(out); ; {
			id, err := s.ReadString('\n')
			if err != nil { // a line that is cut off does not count
				break
			}
			if ids = append(ids, id); len(ids) == 1 {
				time.AfterFunc(time.Duration(round)*5*time.Millisecond, func() { _ = cmd.Process.Kill() })
			}
		}
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != -1 {
			t.Fatalf("the command was not killed but ended with %v", err)
		}
		got := oid(t, strings.Join(ids, ""), "get", "c")
		if n := strings.Count(got.out, "\n"); got.code != 0 || n != len(ids) {
			t.Errorf("%d ids were printed, %d documents are there: %.200s", len(ids), n, got.err)
		}
	}
}

// endless is an input of documents that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	const line = "{\"some\":\"text\"}\n"
	if len(p) < len(line) {
		return copy(p, strings.Repeat(" ", len(p))), nil
	}
	return copy(p, strings.Repeat(line, len(p)/len(line))), nil
}
