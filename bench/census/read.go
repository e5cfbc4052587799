package main

import (
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// readBlock is how many bytes are read at once, as by oid census.
const readBlock = 256 << 10

// readAlone reads a file on all processors and does nothing else with it.
func readAlone(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	var next atomic.Int64
	failed := make(chan error, runtime.NumCPU())
	var running sync.WaitGroup
	for range runtime.NumCPU() {
		running.Go(func() {
			block := make([]byte, readBlock)
			for at := next.Add(readBlock) - readBlock; at < info.Size(); at = next.Add(readBlock) - readBlock {
				if _, err := file.ReadAt(block, at); err != nil && err != io.EOF {
					failed <- err
					return
				}
			}
		})
	}
	running.Wait()
	close(failed)
	return <-failed
}
