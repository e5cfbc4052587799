package gpid

import (
	"io/fs"
	"os"
)

// systemProc returns the proc file system of this host.
func systemProc() (fs.FS, error) { return os.DirFS("/proc"), nil }
