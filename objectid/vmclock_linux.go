package objectid

import (
	"os"
	"syscall"
)

// mapVMClock maps the page of a vmclock device, or of a file with the same layout.
func mapVMClock(name string) ([]byte, error) {
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	var head [vmSize]byte // is read, because access to a mapping beyond the end of a file is fatal
	n, err := syscall.Pread(fd, head[:], 0)
	if err != nil {
		return nil, err
	}
	if err := checkVMClock(head[:n]); err != nil {
		return nil, err
	}
	return syscall.Mmap(fd, 0, os.Getpagesize(), syscall.PROT_READ, syscall.MAP_SHARED) // the driver wants one whole page
}
