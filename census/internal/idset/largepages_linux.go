package idset

import (
	"golang.org/x/sys/unix"
)

// adviseLarge asks the system to use large pages for the memory of s, which must begin at the
// boundary of a large page. A system without large pages ignores that.
func adviseLarge(s []Record) {
	memory := bytesOf(s)
	_ = unix.Madvise(memory[:len(memory)&^(largePage-1)], unix.MADV_HUGEPAGE)
}
