package testenv

import (
	"flag"
	"runtime"
	"strconv"
	"testing"
)

// Main runs the tests of a package that wait more than they work: at least 16 of those
// that call [testing.T.Parallel] at the same time, unless go test -parallel says how many.
// It returns the exit code.
func Main(m *testing.M) int {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", strconv.Itoa(max(16, runtime.GOMAXPROCS(0)))); err != nil {
			panic(err)
		}
	}
	return m.Run()
}
