package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// The documents are README.md, CONTRIBUTING.md, docs/*.md and those named in readDocuments. Each of their fenced
// blocks has a language and is checked in the way of that language:
//
//	console   a session: each command is run and prints what is written there
//	sql       statements for PostgreSQL, or after a line "-- MySQL" for MySQL: they are
//	          run and print the comment at the end
//	go        code of an example, which is compiled and run as a test, or a whole program,
//	          which is run
//
// Every other block is in unchecked, with the reason.
type fencedBlock struct {
	file, language, text string
	line                 int
}

// first returns the first line of b.
func (b fencedBlock) first() string {
	line, _, _ := strings.Cut(b.text, "\n")
	return line
}

// unchecked are the blocks that are not run here, by file, language and first line, each with
// the reason.
var unchecked = map[string]string{
	"README.md: sh: go test ./... github.com/oidkit/oid/objectid/...":                                                                                                "runs the tests",
	"CONTRIBUTING.md: sh: go test ./... github.com/oidkit/oid/objectid/...":                                                                                          "runs the tests",
	"README.zh-CN.md: sh: go test ./... github.com/oidkit/oid/objectid/...":                                                                                          "runs the tests",
	"README.md: console: $ go build ./examples/shop":                                                                                                                 "serves, and kills; the test of examples/shop does the same",
	"docs/design.md: text: cmd/oid                the command: its subcommands, and the flags that several have":                                                     "a drawing; the test of internal/imports compares it with the code",
	"docs/tutorials/which-process.md: console: $ go build ./examples/shop":                                                                                           "serves, and kills; the test of examples/shop does the same",
	"docs/tutorials/which-process.md: console: $ sleep 15; kill -9 $!":                                                                                               "kills the shop of the block before; the test of examples/shop does the same",
	"docs/zh-CN/which-process.md: console: $ go build ./examples/shop":                                                                                               "serves, and kills; the test of examples/shop does the same",
	"docs/zh-CN/which-process.md: console: $ sleep 15; kill -9 $!":                                                                                                   "kills the shop of the block before; the test of examples/shop does the same",
	"README.zh-CN.md: console: $ go build ./examples/shop":                                                                                                           "serves, and kills; the test of examples/shop does the same",
	"docs/how-to/ids-in-logs.md: sh: tail -f app.log | oid annotate":                                                                                                 "does not end; TestFollowThroughOutages runs it",
	"docs/deploy.md: text: # name    all or read  token":                                                                                                             "deploy_test.go runs it",
	"docs/explanation/from-setnx.md: text:                  Redis 8.4                           Valkey 9.0":                                                          "TestCommandsThatCompare of lock/redislock runs them",
	"docs/zh-CN/from-setnx.md: text:           Redis 8.4                           Valkey 9.0":                                                                       "TestCommandsThatCompare of lock/redislock runs them",
	"docs/how-to/kubernetes.md: sh: kubectl create secret generic oid-token --from-file=token":                                                                       "needs a cluster",
	"docs/how-to/kubernetes.md: yaml: env:":                                                                                                                          "a part of examples/agent/pod.yaml, which TestKubernetesDaemonSet expands",
	"docs/how-to/kubernetes.md: text: 6b0aabd32b7f6a3a0ea1ac6d  claimed":                                                                                             "an excerpt; TestKubernetesDaemonSet checks these names",
	"docs/deploy.md: nginx: upstream oid {":                                                                                                                          "replicas_unix_test.go runs it",
	"docs/deploy.md: nginx:     proxy_pass http://oid;":                                                                                                              "replicas_unix_test.go runs it",
	"docs/deploy.md: caddy:         reverse_proxy 127.0.0.1:8024 127.0.0.1:8025 {":                                                                                   "replicas_unix_test.go runs it",
	"docs/deploy.md: haproxy: frontend ids":                                                                                                                          "replicas_unix_test.go runs it",
	"docs/deploy.md: nginx: location /oid/ {":                                                                                                                        "deploy_test.go runs it",
	"docs/deploy.md: sh: oid serve --token-file /etc/oid/tokens --base-url https://ids.example.com/oid/ --trusted-proxy 127.0.0.1":                                   "deploy_test.go runs it",
	"docs/deploy.md: caddy: ids.example.com {":                                                                                                                       "deploy_test.go runs it",
	"docs/deploy.md: ini: # /etc/systemd/system/oid.socket":                                                                                                          "deploy_test.go runs it",
	"docs/deploy.md: sh: oid serve --listen unix:/run/oid/http.sock --group www-data --token-file /etc/oid/tokens --base-url https://ids.example.com/oid/":           "deploy_test.go runs it",
	"docs/deploy.md: sh: systemctl enable --now oid.socket":                                                                                                          "needs systemd as the first process",
	"docs/deploy.md: sh: sudo install -m 400 -o 65532 tokens /etc/oid/tokens":                                                                                        "deploy_test.go runs the command of the container",
	"docs/deploy.md: yaml: livenessProbe:":                                                                                                                           "a part of a Kubernetes manifest",
	"docs/how-to/verify-a-generator.md: console: $ git clone https://github.com/oidkit/oid && cd oid/examples/verify":                                                "examples/verify builds and runs it: TestHowTo",
	"docs/how-to/verify-a-generator.md: console: $ ./verify -- oid new -n 1000000":                                                                                   "examples/verify builds and runs it: TestHowTo",
	"docs/how-to/verify-a-generator.md: console: $ ./verify --ids 5000 -- oid new -n 5000 --layout classic | grep -A 1 BROKEN":                                       "examples/verify builds and runs it: TestHowTo",
	"docs/how-to/static-page.md: sh: make site SITE=/var/www/html/ids":                                                                                               "TestFolderBelowAnyPath of site/build runs it",
	"docs/how-to/static-page.md: nginx: location /ids/ {":                                                                                                            "TestFolderBelowAnyPath of site/build runs it",
	"docs/zh-CN/static-page.md: sh: make site SITE=/var/www/html/ids":                                                                                                "TestFolderBelowAnyPath of site/build runs it",
	"docs/how-to/locks-in-units.md: ini: # /etc/systemd/system/report.service":                                                                                       "TestLockUnits checks it and runs its command",
	"docs/how-to/locks-in-units.md: ini: # /etc/systemd/system/report.timer":                                                                                         "TestLockUnits checks it",
	"docs/how-to/locks-in-units.md: sh: systemctl enable --now report.timer":                                                                                         "needs systemd as the first process",
	"docs/how-to/locks-in-units.md: yaml: apiVersion: batch/v1":                                                                                                      "TestLockCronJob checks it and runs its command",
	"docs/how-to/adopt.md: sh: oid agent --store postgres://db/oid --listen /run/oid/agent.sock":                                                                     "TestAgentDrivers runs it",
	"docs/how-to/adopt.md: python: # app.py":                                                                                                                         "TestAgentDrivers runs it",
	"docs/how-to/adopt.md: sh: export OID_STORE=postgres://db/oid":                                                                                                   "TestAgentDrivers runs it",
	"docs/how-to/adopt.md: sh: server=http://oid:8024":                                                                                                               "TestRegisterByHand runs it",
	"docs/how-to/adopt.md: ini: # /etc/systemd/system/oid-agent.socket":                                                                                              "TestDeploySystemd checks it",
	"docs/how-to/adopt.md: ini: # /etc/systemd/system/oid-agent.service":                                                                                             "TestDeploySystemd checks it",
	"docs/how-to/from-bson-objectid.md: js: // import ObjectID from 'bson-objectid'":                                                                                 "TestJavaScriptCompatPage runs it",
	"docs/how-to/from-bson-objectid.md: js: // const ObjectID = require('bson-objectid')":                                                                            "TestJavaScriptCompatPage runs it",
	"docs/how-to/from-bson-objectid.md: js: import { markForBSON } from '@oidkit/objectid/bson'":                                                                     "TestJavaScriptCompatPage runs it",
	"docs/how-to/from-bson-objectid.md: js: // index.js":                                                                                                             "TestJavaScriptShim runs it",
	"docs/how-to/from-bson-objectid.md: ts: // index.d.ts":                                                                                                           "TestJavaScriptShim runs it",
	"docs/how-to/from-bson-objectid.md: json: {":                                                                                                                     "TestJavaScriptShim runs it",
	"docs/how-to/from-bson-objectid.md: json: { \"name\": \"bson-objectid\", \"version\": \"2.0.5\" }":                                                               "TestJavaScriptShim runs it",
	"docs/how-to/ids-in-your-framework.md: go: field.Bytes(\"id\").GoType(objectid.ID{}).DefaultFunc(objectid.New).SchemaType(binary),":                              "internal/interop/frameworks generates code from it: TestBlocks, TestGenerators",
	"docs/how-to/ids-in-your-framework.md: go: var binary = map[string]string{dialect.Postgres: \"bytea\", dialect.MySQL: \"binary(12)\", dialect.SQLite: \"blob\"}": "internal/interop/frameworks generates code from it: TestBlocks, TestGenerators",
	"docs/how-to/ids-in-your-framework.md: yaml: overrides:":                                                                                                         "internal/interop/frameworks generates code from it: TestBlocks, TestGenerators",
	"docs/how-to/ids-in-your-framework.md: yaml: models:":                                                                                                            "internal/interop/frameworks generates code from it: TestBlocks, TestGenerators",
	"docs/how-to/ids-in-your-framework.md: yaml: Id:":                                                                                                                "internal/interop/frameworks generates code from it: TestBlocks, TestGenerators",
	"docs/how-to/ids-in-your-framework.md: text: replace github.com/oidkit/oid/objectid.ID string":                                                                   "internal/interop/frameworks generates code from it: TestBlocks, TestGenerators",
	"docs/how-to/cron-on-three-hosts.md: text: */10 * * * *  oid lock report --locks redis://redis:6379 --once '*/10 * * * *' -- /usr/local/bin/report":              "a line of a crontab",
	"docs/how-to/cron-on-three-hosts.md: sh: sudo install -d -m 1777 /srv/locks && sudo oid lock --list --locks file:/srv/locks":                                     "TestLockUsersShareAFolder runs it",
	"docs/zh-CN/cron-on-three-hosts.md: sh: sudo install -d -m 1777 /srv/locks && sudo oid lock --list --locks file:/srv/locks":                                      "TestLockUsersShareAFolder runs it",
	"docs/how-to/cron-on-three-hosts.md: text: * * * * *  oid lock report --wait 0 --skipped 0 -- /usr/local/bin/report":                                             "a line of a crontab; TestLockSkipped has its flags",
	"docs/zh-CN/cron-on-three-hosts.md: text: * * * * *  oid lock report --wait 0 --skipped 0 -- /usr/local/bin/report":                                              "a line of a crontab; TestLockSkipped has its flags",
	"docs/how-to/watch-locks.md: text: * * * * *  cd /var/lib/prometheus/node-exporter && oid lock --status --format prometheus report backup --locks redis://redis:6379 >oid.new && mv oid.new oid.prom": "TestWatchLocksCrontab runs it",
	"docs/zh-CN/cron-on-three-hosts.md: text: */10 * * * *  oid lock report --locks redis://redis:6379 --once '*/10 * * * *' -- /usr/local/bin/report":                                                    "a line of a crontab",
	"docs/reference/api.md: sh: server=http://127.0.0.1:8024":                                    "TestAPIPage runs it",
	"lock/redislock/internal/model/README.md: sh: cd lock/redislock/internal/model":              "takes minutes; the test of lock/redislock/internal/model runs it",
	"docs/how-to/after-a-snapshot.md: sh: chmod a+r /dev/vmclock0":                               "needs a virtual machine with the device",
	"docs/how-to/after-a-snapshot.md: console: $ cd oid/examples/verify && go build -o verify .": "needs CRIU: TestVerifyAdapters",

	"docs/how-to/from-an-id-to-the-logs.md: sh: oid serve --link 'logs=https://logs.example/search?pod={k8s.pod.name}&from={from:ms}&to={to:ms}'": "TestLinksOfThePage runs it",
	"docs/how-to/from-an-id-to-the-logs.md: sh: export OID_LINKS='logs=https://logs.example/search?pod={k8s.pod.name}&from={from:ms}&to={to:ms}'": "TestLinksOfThePage runs it",
	"docs/how-to/from-an-id-to-the-logs.md: sh: export OID_LINKS='logs=https://grafana.example/explore?schemaVersion=1&orgId=1&panes={\"oid\":{\"datasource\":\"loki\",\"queries\":[{\"refId\":\"A\",\"datasource\":{\"type\":\"loki\",\"uid\":\"loki\"},\"expr\":\"{service_name=\\\"{service.name}\\\"}|k8s_pod_name=\\\"{k8s.pod.name}\\\"\"}],\"range\":{\"from\":\"{from:ms}\",\"to\":\"{to:ms}\"}}}'":                    "TestLinksOfThePage runs it",
	"docs/how-to/from-an-id-to-the-logs.md: sh: export OID_LINKS='traces=https://grafana.example/explore?schemaVersion=1&orgId=1&panes={\"oid\":{\"datasource\":\"tempo\",\"queries\":[{\"refId\":\"A\",\"datasource\":{\"type\":\"tempo\",\"uid\":\"tempo\"},\"queryType\":\"traceql\",\"query\":\"{resource.service.instance.id=\\\"{service.instance.id}\\\"}\"}],\"range\":{\"from\":\"{from:ms}\",\"to\":\"{to:ms}\"}}}'": "TestLinksOfThePage runs it",
	"docs/how-to/from-an-id-to-the-logs.md: sh: export OID_LINKS=\"logs=https://kibana.example/app/discover#/?_g=(time:(from:'{from}',to:'{to}'))&_a=(query:(language:kuery,query:'kubernetes.pod.name:%22{k8s.pod.name}%22'))\"":                                                                                                                                                                                              "TestLinksOfThePage runs it",
	"docs/how-to/from-an-id-to-the-logs.md: sh: export OID_LINKS='logs=https://app.datadoghq.com/logs?query=service:{service.name}%20pod_name:{k8s.pod.name}&from_ts={from:ms}&to_ts={to:ms}&live=false'":                                                                                                                                                                                                                      "TestLinksOfThePage runs it",
	"docs/how-to/opentelemetry.md: python: import publish": "TestInstrumentedService runs it",
	"docs/how-to/opentelemetry.md: yaml: env:":             "a part of a Kubernetes manifest",
	"docs/how-to/opentelemetry.md: go: attribute.String(\"service.instance.id\", self.InstanceID()), // self is the Process of a registry.Member": "the test of examples/otel runs it",
	"docs/how-to/from-an-id-to-the-logs.md: sh: oid ps --all --label k8s.pod.name=shop-7d4b9cf6d5-x2xkp":                                          "TestLinksOfThePage runs it",
}

// readDocuments returns the texts of all documents by their paths.
func readDocuments(t *testing.T) map[string]string {
	t.Helper()
	paths := []string{"../../README.md", "../../README.zh-CN.md", "../../CONTRIBUTING.md", "../../SECURITY.md", "../../lock/redislock/internal/model/README.md"}
	err := filepath.WalkDir("../../docs", func(path string, e fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimPrefix(filepath.ToSlash(path), "../../")] = string(text)
	}
	return all
}

// fencedBlocks returns the fenced blocks of a document. Only the plainest fence is taken:
// three backticks at the start of a line, and the language.
func fencedBlocks(file, text string) (found []fencedBlock, err error) {
	var open *fencedBlock
	for i, line := range strings.Split(text, "\n") {
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case !fence && open == nil && (strings.Contains(line, "```") || strings.HasPrefix(strings.TrimSpace(line), "~~~")):
			return nil, fmt.Errorf("%s:%d: a fence of another form", file, i+1)
		case !fence && open != nil:
			open.text += line + "\n"
		case fence && open == nil:
			open = &fencedBlock{file: file, language: language, line: i + 1}
		case fence && language != "":
			return nil, fmt.Errorf("%s:%d: a block begins within another", file, i+1)
		case fence:
			found = append(found, *open)
			open = nil
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%s:%d: the block has no end", file, open.line)
	}
	return found, nil
}

// link is a link of a document, with an optional heading.
var link = regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)

// Links within the repository lead to a file, and to a heading in it.
func TestLinks(t *testing.T) {
	documents := readDocuments(t)
	for file, text := range documents {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target := file
			if m[1] != "" {
				target = path.Join(path.Dir(file), m[1])
			}
			if _, err := os.Stat("../../" + target); err != nil {
				t.Errorf("%s links to %s, which does not exist", file, m[1])
				continue
			}
			if heading := strings.TrimPrefix(m[2], "#"); heading != "" && !slices.Contains(anchors(documents[target]), heading) {
				t.Errorf("%s links to the heading %s of %s, which it does not have", file, heading, target)
			}
		}
	}
}

// anchors returns the names by which links reach the headings of a document.
func anchors(text string) (names []string) {
	for line := range strings.Lines(text) {
		if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
			name := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(title)), " ", "-")
			names = append(names, regexp.MustCompile(`[^\p{L}\p{N}_-]`).ReplaceAllString(name, ""))
		}
	}
	return names
}

// The map of the documents leads to all of them.
func TestMapOfDocuments(t *testing.T) {
	documents := readDocuments(t)
	for file := range documents {
		name, inDocs := strings.CutPrefix(file, "docs/")
		if inDocs && name != "README.md" && !strings.Contains(documents["docs/README.md"], "]("+name+")") {
			t.Errorf("docs/README.md does not link to %s", name)
		}
	}
}

// twin is a link of a page to the same in the other language.
var twin = regexp.MustCompile(`\[(?:English|中文)\]\(([^)#]+)\)`)

// A page in Chinese and those in English that it follows link to each other, and the README
// in Chinese links to each page in Chinese.
func TestTwins(t *testing.T) {
	documents := readDocuments(t)
	twins := make(map[string][]string)
	for file, text := range documents {
		for _, m := range twin.FindAllStringSubmatch(text, -1) {
			twins[file] = append(twins[file], path.Join(path.Dir(file), m[1]))
		}
	}
	for file := range documents {
		for _, other := range twins[file] {
			if !slices.Contains(twins[other], file) {
				t.Errorf("%s links to its twin %s, which does not link back", file, other)
			}
		}
		if strings.HasPrefix(file, "docs/zh-CN/") && (twins[file] == nil || !strings.Contains(documents["README.zh-CN.md"], "]("+file)) {
			t.Errorf("%s has no twin in English, or README.zh-CN.md does not link to it", file)
		}
	}
}

// Every block of every document is checked, or it is written why not.
func TestDocuments(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "takes seconds")
	examples := examples(t)
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "oid"), ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	used := make(map[string]bool)
	for file, text := range readDocuments(t) {
		found, err := fencedBlocks(file, text)
		if err != nil {
			t.Error(err)
		}
		var sessions []fencedBlock
		for _, b := range found {
			name := b.file + ": " + b.language + ": " + b.first()
			_, known := unchecked[name]
			switch {
			case b.language == "":
				t.Errorf("%s:%d: a block without a language", b.file, b.line)
			case known:
				used[name] = true
			case b.language == "console", b.language == "sql":
				sessions = append(sessions, b)
			case strings.HasPrefix(b.text, "package main\n"):
				runProgram(t, b)
			case b.language == "go":
				if !strings.Contains(examples, "\n"+b.text) && !strings.Contains(examples, indented(b.text)) {
					t.Errorf("%s:%d: in no example:\n%s", b.file, b.line, b.text)
				}
			default:
				t.Errorf("%s:%d: nothing checks a block of %s; say in unchecked why", b.file, b.line, b.language)
			}
		}
		if sessions != nil {
			t.Run(file, func(t *testing.T) {
				t.Parallel() // most wait: for ids of another second, for leases to end
				runSessions(t, bin, sessions)
			})
		}
	}
	for name := range unchecked {
		if !used[name] {
			t.Errorf("unchecked has %q, which no document has", name)
		}
	}
}

// changing is what differs from one run to the next.
var changing = regexp.MustCompile(`\b[0-9a-f]{24}\b|\b[0-9a-f]{10}\b|\d{4}-\d\d-\d\dT[\d:.]+Z|\d+ (?:year|day|hour|minute|second)s? ago| in \d+\.\d s\b|go1[.\d]+ \w+/\w+|version (?:\(devel\)|\d+\.\d+\.\d+\S*)|\(devel\)|v0\.0\.0\S*`)

// otherPrograms are those that the commands of a session use and not every system has.
var otherPrograms = regexp.MustCompile(`\b(?:python3|curl)\b`)

// docsEnviron returns the environment of the reader of a document, whose times are UTC.
func docsEnviron() []string { return append(os.Environ(), "TZ=UTC", "LC_ALL=C.UTF-8") }

// runSessions runs every command of the sessions of one document, in order, with the oid
// in the folder bin, and compares what it prints: ids, times and versions need only be there.
func runSessions(t *testing.T, bin string, sessions []fencedBlock) {
	work, home := t.TempDir(), t.TempDir()
	if err := os.Symlink(filepath.Join(bin, "oid"), filepath.Join(work, "oid")); err != nil {
		t.Fatal(err)
	}
	clients := newDatabaseClients(t)
	for _, session := range sessions {
		if session.language == "sql" {
			clients.run(session)
			continue
		}
		if !strings.HasPrefix(session.text, "$ ") {
			t.Errorf("%s:%d: a session begins with $ and a command", session.file, session.line)
			continue
		}
		for step := range strings.SplitSeq(strings.TrimPrefix(session.text, "$ "), "\n$ ") {
			command, want, _ := strings.Cut(strings.TrimSuffix(step, "\n"), "\n")
			switch command {
			case "go build ./cmd/oid", "go install ./cmd/oid", "git clone https://github.com/oidkit/oid && cd oid":
				continue // done above, with this tree
			}
			cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(command, "go run ./cmd/oid", "oid"))
			cmd.Dir = work
			cmd.Env = append(docsEnviron(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+home, "XDG_DATA_HOME="+home)
			for _, program := range otherPrograms.FindAllString(command, -1) {
				if _, err := exec.LookPath(program); err != nil {
					testenv.Missing(t, program+" is not installed: apt-get install "+program)
				}
			}
			if databaseCommand.MatchString(command) {
				cmd.Env = append(cmd.Env, clients.postgres()...)
			}
			if mariadbCommand.MatchString(command) {
				clients.configureMySQL(home)
			}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("$ %s: %v\n%s", command, err, out)
				continue
			}
			got := strings.TrimSuffix(string(out), "\n")
			if changing.ReplaceAllString(got, "~") != changing.ReplaceAllString(want, "~") {
				t.Errorf("$ %s\nprints\n%s\nand in %s\n%s", command, got, session.file, want)
			}
		}
	}
}

// runProgram runs a whole program in Go.
func runProgram(t *testing.T, b fencedBlock) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(program, []byte(b.text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "run", program).CombinedOutput(); err != nil {
		t.Errorf("%s:%d: %v\n%s", b.file, b.line, err, out)
	}
}

// examples returns the text of all example tests.
func examples(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	for _, pattern := range []string{"../../*/example*_test.go", "../../*/*/example*_test.go", "../../*/*/*/example*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(code)
		}
	}
	return text.String()
}

// indented returns code as it is in the body of a function.
func indented(code string) string {
	out := "\t" + strings.ReplaceAll(strings.TrimSuffix(code, "\n"), "\n", "\n\t")
	return strings.ReplaceAll(out, "\n\t\n", "\n\n")
}

// Fences of any other form, which would hide a block, are errors.
func TestBlocks(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string // languages; nil is an error
	}{
		{"a\n```go\nb\n```\n```\nc\n```\n", []string{"go", ""}},
		{"a\n", []string{}},
		{"```go\nb\n", nil},
		{"```go\n```sh\n```\n", nil},
		{"  ```go\nb\n  ```\n", nil},
		{"> ```go\n> b\n> ```\n", nil},
		{"~~~go\nb\n~~~\n", nil},
	} {
		found, err := fencedBlocks("x.md", c.text)
		var got []string
		for _, b := range found {
			got = append(got, b.language)
		}
		if (err != nil) != (c.want == nil) || !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, %v; want %q", c.text, got, err, c.want)
		}
	}
}

// byCommand finds the commands that have written a document, or a section of one.
var byCommand = regexp.MustCompile("(?m)^    (go .*)$|^\\d{4}-\\d\\d-\\d\\d, `([^`]+)`")

// What is measured is written by commands that the Makefile runs as well.
func TestMeasurementsAreReproducible(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	// "make bench-ids" and its like run "go run ./ids" in the folder bench.
	rule := regexp.MustCompile(`(?m)^((?:bench-\w+ ?)+): bench-%:\n\tcd bench && go run \./\$\*`).FindSubmatch(makefile)
	if rule == nil {
		t.Fatal("the Makefile does not run the programs in the folder bench")
	}
	for name := range strings.FieldsSeq(string(rule[1])) {
		makefile = append(makefile, "\ngo run ./"+strings.TrimPrefix(name, "bench-")...)
	}
	for file, text := range readDocuments(t) {
		commands := byCommand.FindAllStringSubmatch(text, -1)
		if commands == nil && slices.Contains([]string{"docs/benchmarks.md", "docs/lock-faults.md"}, file) {
			t.Errorf("%s names no command that writes it", file)
		}
		for _, m := range commands {
			command, _, _ := strings.Cut(m[1]+m[2], " -engine ") // one of those that the Makefile measures
			if !strings.Contains(string(makefile), "\n"+strings.TrimPrefix(command, "make ")+":\n") && !strings.Contains(string(makefile), command) {
				t.Errorf("%s is written by %q, which is not in the Makefile", file, command)
			}
		}
	}
}

// README names the command that runs the tests, which .ci/run calls as well.
func TestReadmeNamesTheTests(t *testing.T) {
	run, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	documents := readDocuments(t)
	for _, file := range []string{"README.md", "README.zh-CN.md"} {
		blocks, err := fencedBlocks(file, documents[file])
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(blocks, func(b fencedBlock) bool { return strings.HasPrefix(b.text, "go test ") })
		if i < 0 {
			t.Errorf("%s has no block with the command that runs the tests", file)
		} else if !strings.Contains("\n"+string(run), "\n"+blocks[i].text) {
			t.Errorf("%s runs the tests with %q, which is not in .ci/run", file, blocks[i].text)
		}
	}
}

// The glossary, and the Chinese page of verdicts, have the names of every enumeration that
// people meet.
func TestGlossaryHasAllNames(t *testing.T) {
	documents := readDocuments(t)
	for what, names := range map[string]string{
		"layout":               fmt.Sprint(objectid.Layouts()),
		"state":                fmt.Sprint(registry.States()),
		"verdict of a trace":   fmt.Sprint(registry.Verdicts()),
		"evidence":             fmt.Sprint(registry.Evidences()),
		"verdict of a reading": fmt.Sprint(inspect.Verdicts()),
		"finding":              fmt.Sprint(census.Kinds()),
	} {
		for name := range strings.FieldsSeq(strings.Trim(names, "[]")) {
			for _, page := range []string{"docs/glossary.md", "docs/zh-CN/findings.md"} {
				if !strings.Contains(documents[page], "`"+name+"`") {
					t.Errorf("%s does not have the %s `%s`: add its name to the row of names in the glossary, and to the Chinese page what it means and what to do", page, what, name)
				}
			}
		}
	}
}
