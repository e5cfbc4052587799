//go:build !linux

package gpid

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
)

// systemProc says that there is nothing to tell processes apart with.
func systemProc() (fs.FS, error) {
	return nil, fmt.Errorf("gpid: tell processes apart on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
