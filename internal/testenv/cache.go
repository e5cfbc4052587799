package testenv

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

var errNotFetched = errors.New("it is fetched once, by \"OID_REQUIRE_ALL=1 go test -v -run TestFetch ./internal/testenv\"")

// cached returns the path of what the command that fetch returns puts at the path
// given to it. It is made once and kept under name in the user's folder for caches, and
// only with OID_REQUIRE_ALL=1 in the environment: it takes minutes, in which a test shows
// nothing. "make test" begins with TestFetch, which makes all that takes long.
func cached(name string, fetch func(part string) *exec.Cmd) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, "oid-testenv", name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if !Whole() {
		return "", errNotFetched
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	// Other test programs may fetch it at the same time: only what is complete
	// gets the name.
	part := fmt.Sprintf("%s.%d", path, os.Getpid())
	defer os.RemoveAll(part)
	fmt.Fprintf(os.Stderr, "testenv: fetching %s, once, which may take minutes\n", name)
	if out, err := fetch(part).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	if err := os.Rename(part, path); err != nil {
		if _, statErr := os.Stat(path); statErr != nil { // nobody else was faster
			return "", err
		}
	}
	return path, nil
}
