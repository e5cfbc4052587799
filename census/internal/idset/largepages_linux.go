package idset

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviseLarge asks the system for large pages in the memory of s, which begins with one.
// Where it has none, nothing changes.
func adviseLarge(s []Record) {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*RecordSize)
	_ = unix.Madvise(bytes[:len(bytes)&^(largePage-1)], unix.MADV_HUGEPAGE)
}
