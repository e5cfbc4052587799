package idset

import (
	"golang.org/x/sys/unix"
)

// adviseLarge asks the system for large pages in the memory of s, which begins with one.
// Where it has none, nothing changes.
func adviseLarge(s []Record) {
	memory := bytesOf(s)
	_ = unix.Madvise(memory[:len(memory)&^(largePage-1)], unix.MADV_HUGEPAGE)
}
