package gpid

import "io/fs"

// errGone occurs on Linux alone, the only system whose /proc is read.
var errGone = fs.ErrNotExist
