package main

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// expensive are the packages that oid cannot do without whose initialization allocates
// more than mayAllocate, with why it does.
var expensive = map[string]string{
	"github.com/xdg-go/stringprep":                       "tables for names in passwords, of the MongoDB driver",
	"github.com/danielgtaylor/huma/v2":                   "regular expressions and formats of the API",
	"github.com/danielgtaylor/huma/v2/yaml":              "tables of a parser",
	"github.com/prometheus/procfs":                       "regular expressions for files that oid does not read",
	"github.com/prometheus/client_golang/prometheus":     "descriptions of the metrics of Go's runtime",
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/auth": "tables of its authentication",
	"go.mongodb.org/mongo-driver/v2/bson":                "tables of types",
	"github.com/klauspost/compress/flate":                "tables of Huffman codes",
	"github.com/mikelolasagasti/xz":                      "tables of CRC-64",
}

// mayAllocate is how many bytes the initialization of any other package may allocate,
// and mayOwn that of all packages of oid together. They make each start of the command
// slower, whatever it does.
const (
	mayAllocate = 20 << 10
	mayOwn      = 20 << 10
)

// initTrace matches a line of GODEBUG=inittrace=1.
var initTrace = regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, \d+ allocs$`)

// Packages allocate little before the command begins.
func TestStartAllocatesLittle(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("sizes are those of amd64")
	}
	deps, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	product := strings.Fields(string(deps)) // the oid of the tests has more packages
	cmd := exec.Command("oid", "new")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	own, n := 0, 0
	for _, m := range initTrace.FindAllStringSubmatch(string(out), -1) {
		bytes, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(product, m[1]) || strings.HasSuffix(m[1], "/cmd/oid") { // which has the tests too
			continue
		}
		n++
		if strings.HasPrefix(m[1], "github.com/oidkit/oid/") {
			own += bytes
		}
		if _, known := expensive[m[1]]; bytes > mayAllocate && !known {
			t.Errorf("the initialization of %s allocates %d bytes, at each start of the command", m[1], bytes)
		}
	}
	if n < 50 {
		t.Fatalf("%d packages were traced:\n%s", n, out)
	}
	if own > mayOwn {
		t.Errorf("the initialization of oid's packages allocates %d bytes, want %d at most", own, mayOwn)
	}
	if slices.Contains(product, "github.com/rs/xid") {
		t.Error("package xid is in the command: it reads files at each start")
	}
}
