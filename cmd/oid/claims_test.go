package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A sentence, list item or table row of a document that promises or compares names its
// evidence in a comment behind it, which a browser does not show:
//
//	<!--TestValuePerID,TestCopiedProcess/fork-->
//	<!--benchmarks "PostgreSQL 15" "own table, by a time field with an index" 0.95 to 3-->
//	<!--source MongoDB server 2.0, src/mongo/bson/oid.cpp-->
//
// Other comments begin with a blank. The first names tests, fuzz tests or examples of this tree. The second names a row and
// the table that has it in docs/benchmarks.md, by the beginnings of their first cells, and
// the range in which its last number must be for the sentence to be right. The third names
// where a fact about other programs can be looked up. Several are separated by a semicolon.

// mustHaveEvidence are the parts of documents of which each list item and each table row
// is a claim, by file and heading.
var mustHaveEvidence = map[string][]string{
	"README.md":                         {"What is promised, and what is not"},
	"docs/explanation/guarantees.md":    {"Ids", "Locks", "The store", "Attacks"},
	"docs/explanation/other-ids.md":     {"ObjectId beside UUIDv7, ULID, Snowflake and auto-increment"},
	"docs/explanation/from-setnx.md":    {"From SETNX to this lock", "Commands of Redis 8.4 and Valkey 9 that compare"},
	"README.zh-CN.md":                   {"保证什么，不保证什么"},
	"docs/zh-CN/guarantees.md":          {"id", "锁", "数据库", "攻击"},
	"docs/zh-CN/other-ids.md":           {"ObjectId 与 UUIDv7、ULID、Snowflake、自增主键"},
	"docs/zh-CN/from-setnx.md":          {"从 SETNX 到这把锁", "Redis 8.4 和 Valkey 9 的比较命令"},
	"docs/zh-CN/find-by-time.md":        {"需要知道的"},
	"docs/zh-CN/sealed-ids.md":          {"保证什么，不保证什么"},
	"docs/zh-CN/which-process.md":       {"需要知道的"},
	"docs/zh-CN/findings.md":            {"追溯：这个 id 是哪个进程生成的", "进程的状态", "census 的发现", "census 的事件", "锁的退出码"},
	"docs/zh-CN/cron-on-three-hosts.md": {"一次调用算哪个触发时刻", "退出码，让 cron 不发邮件", "保证什么，不保证什么"},
}

// claim is a sentence, list item or table row with its evidence.
type claim struct {
	file, heading, text string
	evidence            []string
}

var (
	evidenceMark  = regexp.MustCompile(`\s*<!--(\S.*?)-->`)
	benchmarkMark = regexp.MustCompile(`^benchmarks "([^"]+)" "([^"]+)" ([\d.]+) to ([\d.]+)$`)
	testName      = regexp.MustCompile(`^((?:Test|Fuzz|Example)\w*)(/[\w,.-]+)?$`)
	separatorRow  = regexp.MustCompile(`^\|[-:| ]+\|$`)
)

// claims returns the paragraphs, list items and table rows of a document that have
// evidence, and those under the headings that must have it.
func claims(file, text string, headings []string) (all []claim) {
	heading, fenced := "", false
	var open *claim
	flush := func(closed bool) {
		if open == nil {
			return
		}
		for _, m := range evidenceMark.FindAllStringSubmatch(open.text, -1) {
			open.evidence = append(open.evidence, strings.Split(m[1], "; ")...)
		}
		open.text = strings.Join(strings.Fields(evidenceMark.ReplaceAllString(open.text, "")), " ")
		item := strings.HasPrefix(open.text, "- ") || regexp.MustCompile(`^\d+\. `).MatchString(open.text) || strings.HasPrefix(open.text, "| ")
		if open.evidence != nil || item && slices.Contains(headings, heading) {
			all = append(all, *open)
		}
		open = nil
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		begins := regexp.MustCompile(`^(- |\d+\. |\|)`).MatchString(line)
		switch title := strings.TrimLeft(line, "#"); {
		case strings.HasPrefix(line, "```"):
			flush(true)
			fenced = !fenced
		case fenced:
		case title != line && strings.HasPrefix(title, " "):
			flush(true)
			heading = strings.TrimSpace(title)
		case strings.TrimSpace(line) == "", separatorRow.MatchString(line), strings.HasPrefix(line, "|") && i+1 < len(lines) && separatorRow.MatchString(lines[i+1]):
			flush(true)
		case begins, open == nil:
			flush(true)
			open = &claim{file: file, heading: heading, text: line}
		default:
			open.text += "\n" + line
		}
	}
	flush(true)
	return all
}

// allClaims returns the claims of all documents, in their order.
func allClaims(t *testing.T) (all []claim) {
	t.Helper()
	documents := readDocuments(t)
	for _, file := range slices.Sorted(maps.Keys(documents)) {
		all = append(all, claims(file, documents[file], mustHaveEvidence[file])...)
	}
	return all
}

// testsOfTheTree returns the names of all tests, with the file of each.
func testsOfTheTree(t *testing.T) map[string][]string {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
	all := make(map[string][]string)
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range function.FindAllSubmatch(text, -1) {
			all[string(m[1])] = append(all[string(m[1])], string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Each claim has evidence, and the evidence is there.
func TestClaims(t *testing.T) {
	tests := testsOfTheTree(t)
	benchmarks := readDocuments(t)["docs/benchmarks.md"]
	for _, c := range allClaims(t) {
		if c.evidence == nil {
			t.Errorf("%s, %s: a claim without evidence; name a test or a measurement behind it, see cmd/oid/claims_test.go:\n%s", c.file, c.heading, c.text)
		}
		for _, e := range c.evidence {
			if err := checkEvidence(e, tests, benchmarks); err != nil {
				t.Errorf("%s, %s: %v; the evidence of this is gone, so mend the sentence or name other evidence:\n%s", c.file, c.heading, err, c.text)
			}
		}
	}
}

// checkEvidence returns an error unless the evidence is there.
func checkEvidence(evidence string, tests map[string][]string, benchmarks string) error {
	if source, found := strings.CutPrefix(evidence, "source "); found && strings.Contains(source, ",") {
		return nil
	}
	if m := benchmarkMark.FindStringSubmatch(evidence); m != nil {
		n, err := rowRatio(benchmarks, m[1], m[2])
		low, err1 := strconv.ParseFloat(m[3], 64)
		high, err2 := strconv.ParseFloat(m[4], 64)
		switch {
		case err != nil:
			return err
		case err1 != nil || err2 != nil:
			return fmt.Errorf("no range: %s", evidence)
		case n < low || n > high:
			return fmt.Errorf("docs/benchmarks.md has %v for %q of %q, and the sentence is right from %v to %v", n, m[2], m[1], low, high)
		}
		return nil
	}
	for name := range strings.SplitSeq(evidence, ",") {
		m := testName.FindStringSubmatch(name)
		if m == nil {
			return fmt.Errorf("evidence of no known form: %q", name)
		}
		texts, found := tests[m[1]]
		if part := strings.TrimPrefix(m[2], "/"); !found || part != "" && !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, part) }) {
			return fmt.Errorf("there is no test %s", name)
		}
	}
	return nil
}

// rowRatio returns the last number of a row in a table of docs/benchmarks.md.
func rowRatio(benchmarks, table, row string) (float64, error) {
	_, text, found := strings.Cut(benchmarks, "\n| "+table)
	text, _, _ = strings.Cut(text, "\n\n")
	_, line, found2 := strings.Cut(text, "\n| "+row)
	if line, _, _ = strings.Cut(line, "\n"); !found || !found2 {
		return 0, fmt.Errorf("docs/benchmarks.md has no row %q in a table %q", row, table)
	}
	cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	return strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(cells[len(cells)-1]), ",", ""), 64)
}

// claimsTable lists the English claims of each page, by their first words, with their tests,
// and the kind of other evidence.
func claimsTable(all []claim) string {
	var b strings.Builder
	file := ""
	for _, c := range all {
		if strings.Contains(c.file, "zh-CN") {
			continue
		}
		if c.file != file {
			fmt.Fprintf(&b, "\n%s:\n\n", path.Base(c.file))
			file = c.file
		}
		words := strings.FieldsFunc(strings.TrimPrefix(c.text, "- "), func(r rune) bool { return r == ' ' || r == '|' })
		text := strings.Join(words[:min(len(words), 3)], " ")
		var shown []string
		for _, e := range c.evidence {
			if kind, _, _ := strings.Cut(e, " "); !slices.Contains(shown, kind) {
				shown = append(shown, kind)
			}
		}
		fmt.Fprintf(&b, "- %s (%s)\n", strings.NewReplacer("`", "", "[", "", "]", "", "**", "").Replace(text), strings.Join(shown, ","))
	}
	return b.String() + "\n"
}

// Evidence that is gone, and claims that have none, are found.
func TestClaimsAreChecked(t *testing.T) {
	const text = "# A\n\n- one <!--TestX-->\n- two\n  more <!--TestX/part; benchmarks \"T\" \"r\" 1 to 2-->\n- three\n\nPlain.\n\n| a | b |\n|---|---|\n| c | d | <!--source Q 1, q.c-->\n"
	got := claims("x.md", text, []string{"A"})
	if len(got) != 4 || got[1].text != "- two more" || len(got[1].evidence) != 2 || got[2].evidence != nil || got[3].text != "| c | d |" {
		t.Errorf("claims: %+v", got)
	}
	tests := map[string][]string{"TestX": {`t.Run("part"`}}
	const benchmarks = "x\n\n| T | s | ratio |\n|---|--:|--:|\n| r | 7 | 1.5 |\n\n"
	for evidence, ok := range map[string]bool{
		"TestX": true, "TestX/part": true, "TestX,TestX/part": true,
		"TestY": false, "TestX/other": false, "": false, "see there": false,
		`benchmarks "T" "r" 1 to 2`: true, `benchmarks "T" "r" 1.5 to 1.5`: true,
		`benchmarks "T" "r" 1.51 to 2`: false, `benchmarks "T" "r" 1 to 1.49`: false,
		`benchmarks "T" "s" 1 to 2`: false, `benchmarks "U" "r" 1 to 2`: false,
		"source Q 1, q.c": true, "source Q": false,
	} {
		if err := checkEvidence(evidence, tests, benchmarks); (err == nil) != ok {
			t.Errorf("%q: %v", evidence, err)
		}
	}
}
