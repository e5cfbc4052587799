package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/oidkit/oid/internal/verify"
)

// fakeClock is a file with the time that a program sees by libfaketime.
type fakeClock struct {
	*verify.Clock
	file string
}

// newFakeClock writes the first moment of a clock to a file.
func newFakeClock(c *verify.Clock, file string) (*fakeClock, error) {
	f := &fakeClock{c, file}
	return f, f.write()
}

// write writes the moment of the clock in one piece: a program may be reading it.
func (f *fakeClock) write() error {
	next := f.file + ".next"
	if err := os.WriteFile(next, []byte(strconv.FormatInt(f.Moment(), 10)+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(next, f.file)
}

// step moves the clock to its next moment.
func (f *fakeClock) step() error {
	f.Step()
	return f.write()
}

// fakeTimeLibraries are where libfaketime is installed.
var fakeTimeLibraries = []string{
	"/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib*/faketime/libfaketimeMT.so.1", "/usr/local/lib*/faketime/libfaketimeMT.so.1",
}

var errNoFakeTime = errors.New("--clock needs the library libfaketime; on Debian and Ubuntu install the package faketime")

// environment returns the environment variables by which a program sees the clock.
func (f *fakeClock) environment() ([]string, error) {
	for _, pattern := range fakeTimeLibraries {
		if found, _ := filepath.Glob(pattern); len(found) > 0 { // an error is one of the pattern
			preload := found[0]
			if more := os.Getenv("LD_PRELOAD"); more != "" {
				preload += ":" + more
			}
			env := []string{
				"LD_PRELOAD=" + preload, "FAKETIME_TIMESTAMP_FILE=" + f.file, "FAKETIME_FMT=%s",
				"DONT_FAKE_MONOTONIC=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1", "OID_VERIFY_CLOCK=" + f.file,
			}
			if f.Steps() { // it looks at the file each time, which is slow
				env = append(env, "FAKETIME_NO_CACHE=1")
			}
			return env, nil
		}
	}
	return nil, errNoFakeTime
}
