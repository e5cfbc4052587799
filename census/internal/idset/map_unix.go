//go:build unix

package idset

import (
	"os"
	"syscall"
	"unsafe"
)

// mapRecords extends file, whose size is offset, by size bytes and maps them as records.
// The space on disk is taken at once, because writing to a mapping without it would end
// the process.
func mapRecords(file *os.File, offset, size int64) (mapped []Record, unmap func() error, err error) {
	if _, err := file.WriteAt(make([]byte, size), offset); err != nil {
		return nil, nil, err
	}
	b, err := syscall.Mmap(int(file.Fd()), offset, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	mapped = unsafe.Slice((*Record)(unsafe.Pointer(unsafe.SliceData(b))), size/RecordSize)
	return mapped, func() error { return os.NewSyscallError("munmap", syscall.Munmap(b)) }, nil
}
