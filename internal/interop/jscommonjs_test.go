package interop

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

var (
	jsImport  = regexp.MustCompile(`(?m)^import (\{[^}]*\}) from '(\./\w+)\.js'$`)
	jsExport  = regexp.MustCompile(`(?m)^export ((?:class|function|const) (\w+))`)
	jsDefault = regexp.MustCompile(`(?m)^export default (?:function )?(\w+)`)
	jsModule  = regexp.MustCompile(`'(\./\w+)\.js'`)
)

// commonJS returns a module of the folder js for require(). It knows the few forms of import
// and export that these modules have.
func commonJS(source string) string {
	var exports strings.Builder
	for _, m := range jsExport.FindAllStringSubmatch(source, -1) {
		fmt.Fprintf(&exports, "exports.%s = %[1]s\n", m[2])
	}
	for _, m := range jsDefault.FindAllStringSubmatch(source, -1) {
		fmt.Fprintf(&exports, "module.exports = %s\n", m[1])
	}
	source = jsImport.ReplaceAllStringFunc(source, func(text string) string {
		m := jsImport.FindStringSubmatch(text)
		return "const " + strings.ReplaceAll(m[1], " as ", ": ") + " = require('" + m[2] + ".cjs')"
	})
	source = jsExport.ReplaceAllString(source, "$1")
	source = strings.ReplaceAll(source, "export default function ", "function ")
	return "'use strict'\n" + source + "\n" + exports.String()
}

// Each module has a copy for require(), and so have its types: jest, Node.js before 20.19 and
// TypeScript for CommonJS take no other. With OID_WRITE_GENERATED=1, as in "make generated",
// the copies are written.
func TestJavaScriptCommonJS(t *testing.T) {
	for _, name := range []string{"objectid", "bson", "compat"} {
		source := testenv.Must(os.ReadFile(library + name + ".js"))(t)
		types := testenv.Must(os.ReadFile(library + name + ".d.ts"))(t)
		for file, want := range map[string]string{
			name + ".cjs":   commonJS(string(source)),
			name + ".d.cts": strings.ReplaceAll(jsModule.ReplaceAllString(string(types), "'$1.cjs'"), "export default ", "export = "),
		} {
			if strings.HasSuffix(file, ".cjs") && (strings.Contains(want, "\nimport ") || strings.Contains(want, "\nexport ")) {
				t.Errorf("js/%s would have an import or export of a form that commonJS does not know", file)
			}
			want = "// Generated from the module for import. Run make generated after a change of it.\n" + want
			generated(t, "js/"+file, want)
		}
	}
}

// generated compares a file of the repository with what it must contain. With
// OID_WRITE_GENERATED=1, as in "make generated", it writes the file.
func generated(t *testing.T, name, want string) {
	t.Helper()
	file := "../../" + name
	if os.Getenv("OID_WRITE_GENERATED") == "1" {
		testenv.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	if got := testenv.Must(os.ReadFile(file))(t); string(got) != want {
		t.Errorf("%s is not up to date: run make generated", name)
	}
}
