package census

import (
	"bytes"
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
	limit := int64(math.MaxInt64)
	for _, read := range []func(fs.FS) (int64, bool){machineMemory, containerMemory} {
		if n, ok := read(root); ok && n/memoryShare < limit {
			limit = n / memoryShare
		}
	}
	return limit
}

// machineMemory reads the memory of the machine from /proc/meminfo, see proc(5).
func machineMemory(root fs.FS) (int64, bool) {
	data, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0, false
	}
	for row := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(row), "MemTotal:"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
			return n << 10, err == nil
		}
	}
	return 0, false
}

// containerMemory reads the lowest limit of this process' control groups, of version 2
// or 1, see cgroups(7).
func containerMemory(root fs.FS) (int64, bool) {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	least, found := int64(math.MaxInt64), false
	for row := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(row), ":", 3)
		if len(parts) < 3 {
			continue
		}
		tree, file := "sys/fs/cgroup", "memory.max"
		if parts[1] != "" { // version 1
			if parts[1] != "memory" {
				continue
			}
			tree, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		// A group is limited by those above it, too. In a container its path may be
		// that on the host, and only the root exists.
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			data, err := fs.ReadFile(root, path.Join(tree, group, file))
			n, notNumber := strconv.ParseInt(string(bytes.TrimSpace(data)), 10, 64) // as "max"
			if err == nil && notNumber == nil && n < least {
				least, found = n, true
			}
			if group == "/" {
				break
			}
		}
	}
	return least, found
}

// Close removes what a census has spilled to disk. The census must not be used
// afterwards.
func (c *Census) Close() error { return c.space.Close() }
