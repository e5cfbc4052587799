package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
)

// readBlock is how many bytes are read at once, as by oid census.
const readBlock = 256 << 10

// readAlone reads a file on all processors and does nothing else with it: with read, or
// with one load from each cache line of its pages.
func readAlone(path string, pages bool) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	var mapped []byte
	if pages {
		if mapped, err = syscall.Mmap(int(file.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED); err != nil {
			return err
		}
	}
	var next, sum atomic.Int64
	failed := make(chan error, runtime.NumCPU())
	var running sync.WaitGroup
	for range runtime.NumCPU() {
		running.Go(func() {
			block := make([]byte, readBlock)
			for {
				at := next.Add(readBlock) - readBlock
				switch {
				case at >= size:
					return
				case pages:
					sum.Add(touch(mapped[at:min(at+readBlock, size)]))
				default:
					if _, err := file.ReadAt(block, at); err != nil && err != io.EOF {
						failed <- err
						return
					}
				}
			}
		})
	}
	running.Wait()
	close(failed)
	fmt.Println(sum.Load())
	return <-failed
}

// touch reads one word of each cache line.
func touch(b []byte) (sum int64) {
	for ; len(b) >= 64; b = b[64:] {
		sum += int64(binary.LittleEndian.Uint64(b))
	}
	return sum
}
