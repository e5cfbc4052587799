//go:build unix

package idset

import (
	"os"
	"syscall"
	"unsafe"
)

const moreSpace = "set TMPDIR to a folder with more space"

// mapRecords extends file by size bytes and maps these bytes as records. offset is the size
// of the file before. mapRecords writes zeros to take the space on disk: if the disk were full
// later, writing to the mapping would kill the process.
func mapRecords(file *os.File, offset, size int64) (mapped []Record, unmap func() error, err error) {
	for zeros, at := make([]byte, min(size, 1<<18)), offset; at < offset+size; at += int64(len(zeros)) {
		if _, err := file.WriteAt(zeros[:min(int64(len(zeros)), offset+size-at)], at); err != nil {
			return nil, nil, err
		}
	}
	b, err := syscall.Mmap(int(file.Fd()), offset, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	mapped = unsafe.Slice((*Record)(unsafe.Pointer(unsafe.SliceData(b))), size/RecordSize)
	return mapped, func() error { return os.NewSyscallError("munmap", syscall.Munmap(b)) }, nil
}
