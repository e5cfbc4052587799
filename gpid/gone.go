//go:build !plan9

package gpid

import "syscall"

// errGone is the error of reading a file in /proc whose process has ended in the meantime.
const errGone = syscall.ESRCH
