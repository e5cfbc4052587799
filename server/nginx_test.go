package server_test

import (
	"crypto/tls"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/server"
)

// behindNginx is whether every server that the test starts is put behind nginx, as
// docs/deploy.md says, with TLS and under the path /oid. A server without a token gets
// one, which nginx adds to each request.
func behindNginx(t testing.TB) bool { return strings.HasPrefix(t.Name(), "TestBehindNginx/") }

func (r *running) putBehindNginx(t testing.TB, o *server.Options) {
	t.Helper()
	port := testenv.FreePort(t)
	o.BaseURL = fmt.Sprintf("https://localhost:%d/oid/", port)
	o.TrustedProxies = everywhere
	location := testenv.DocBlock(t, "../docs/deploy.md", "nginx", 0, "http://127.0.0.1:8024", r.url)
	if o.Token == "" && o.Tokens == nil {
		const token = "Nginx-knows-this-token"
		o.Token = token
		location = strings.Replace(location, "{", "{\n    proxy_set_header Authorization \"Bearer "+token+"\";", 1)
	}
	testenv.Nginx(t, port, location)
	r.url = strings.TrimSuffix(o.BaseURL, "/")
	r.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
}

// browserTests are all tests of the page in a browser.
var browserTests = map[string]func(*testing.T){
	"TestPlotsShareAnAxis": TestPlotsShareAnAxis,
	"TestTablesAreWhole":   TestTablesAreWhole,
	"TestPlainHTML":        TestPlainHTML,
	"TestBothPages":        TestBothPages,
	"TestNightView":        TestNightView, "TestOnCallInTheBrowser": TestOnCallInTheBrowser,
	"TestLooks": TestLooks, "TestHeadIsLive": TestHeadIsLive, "TestErrorLooks": TestErrorLooks, "TestTyping": TestTyping, "TestCreateAndRead": TestCreateAndRead, "TestTabsLive": TestTabsLive, "TestKeys": TestKeys,
	"TestDroppingAFile": TestDroppingAFile, "TestProcessesLive": TestProcessesLive, "TestLoginInTheBrowser": TestLoginInTheBrowser,
	"TestWithoutScript": TestWithoutScript, "TestAgoInTheBrowser": TestAgoInTheBrowser,
	"TestPageSaysWhatFails": TestPageSaysWhatFails, "TestSessionEndsInTheBrowser": TestSessionEndsInTheBrowser,
}

// Behind nginx, with TLS and under a path, everything is as it is without.
func TestBehindNginx(t *testing.T) {
	t.Parallel()
	for name, test := range browserTests {
		t.Run(name, test)
	}
}

// No test of the page is missing there.
func TestBrowserTestsAreComplete(t *testing.T) {
	names, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		f, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			test, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(test.Name.Name, "Test") || test.Name.Name == "TestBehindNginx" {
				continue
			}
			opens := false
			ast.Inspect(test, func(n ast.Node) bool {
				if name, ok := n.(*ast.Ident); ok && slices.Contains([]string{"newTab", "browserOf"}, name.Name) {
					opens = true
				}
				return true
			})
			if _, listed := browserTests[test.Name.Name]; opens && !listed {
				t.Errorf("%s is not in browserTests", test.Name.Name)
			}
		}
	}
}
