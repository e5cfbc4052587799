package census

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/oidkit/oid/census/internal/idset"
)

const (
	// A census takes at most a half of the memory that there is, unless it is told
	// otherwise.
	memoryShare = 2

	// besides is what a census needs beside the ids: blocks of the sources, and what
	// was found out about processes.
	besides = 64 << 20

	// leastInMemory is how many ids are in memory at least before some are spilled.
	leastInMemory = 1 << 16
)

// inMemory returns how many ids may be in memory with a limit in bytes for everything.
// Segments that are not full, and memory that the garbage collector has not reclaimed,
// take a part of it.
func inMemory(limit int64) int {
	return int(max((limit-besides)/(idset.RecordSize*3/2), leastInMemory))
}

// MemoryLimit returns the default of Options.Memory: half of the memory of the machine
// or, if that is less, of its container; math.MaxInt64 if neither is known.
func MemoryLimit() int64 { return memoryLimit(os.DirFS("/")) }

func memoryLimit(root fs.FS) int64 {
	n := min(machineMemory(root), containerMemory(root))
	if n == math.MaxInt64 {
		return n
	}
	return n / memoryShare
}

// machineMemory reads the memory of the machine from /proc/meminfo, see proc(5). It is
// math.MaxInt64 if it is not known.
func machineMemory(root fs.FS) int64 {
	data, _ := fs.ReadFile(root, "proc/meminfo")
	_, total, _ := strings.Cut(string(data), "MemTotal:")
	var n int64
	if _, err := fmt.Sscanf(total, "%d kB", &n); err != nil {
		return math.MaxInt64
	}
	return n << 10
}

// containerMemory reads the lowest limit of this process' control groups, of version 2
// or 1, see cgroups(7). It is math.MaxInt64 if there is none.
func containerMemory(root fs.FS) int64 {
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	least := int64(math.MaxInt64)
	for row := range strings.Lines(string(groups)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(row), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		tree, file := "sys/fs/cgroup", "memory.max"
		switch controllers {
		case "":
		case "memory": // version 1
			tree, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		// A group is limited by those above it, too. In a container its path may be
		// that on the host, and only the root exists.
		for group = path.Clean("/" + group); ; group = path.Dir(group) {
			data, _ := fs.ReadFile(root, path.Join(tree, group, file))
			if n, err := strconv.ParseInt(string(bytes.TrimSpace(data)), 10, 64); err == nil { // not "max"
				least = min(least, n)
			}
			if group == "/" {
				break
			}
		}
	}
	return least
}

// Close removes what a census has spilled to disk. The census must not be used
// afterwards.
func (c *Census) Close() error { return c.space.Close() }
