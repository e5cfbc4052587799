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
	// memoryShare: by default, a census uses one half of the available memory.
	memoryShare = 2

	// overhead is the memory in bytes for everything except the ids: blocks of the sources
	// and the analysis of processes.
	overhead = 64 << 20

	// leastInMemory is the least number of ids in memory before ids go to disk.
	leastInMemory = 1 << 16
)

// inMemory returns how many ids may be in memory if all memory is limited to that many
// bytes. A third of the memory for ids is left for segments that are not full and for
// garbage.
func inMemory(limit int64) int {
	return int(max((limit-overhead)/(idset.RecordSize*3/2), leastInMemory))
}

// MemoryLimit returns the default of Options.Memory in bytes: half of the memory of the
// machine or of the container, whichever is less. It returns math.MaxInt64 if both are
// unknown.
func MemoryLimit() int64 { return memoryLimit(os.DirFS("/")) }

func memoryLimit(root fs.FS) int64 {
	n := min(machineMemory(root), containerMemory(root))
	if n == math.MaxInt64 {
		return n
	}
	return n / memoryShare
}

// machineMemory reads the size of the machine's memory from /proc/meminfo, see proc(5). It
// returns math.MaxInt64 if the size is unknown.
func machineMemory(root fs.FS) int64 {
	data, _ := fs.ReadFile(root, "proc/meminfo")
	_, total, _ := strings.Cut(string(data), "MemTotal:")
	var n int64
	if _, err := fmt.Sscanf(total, "%d kB", &n); err != nil {
		return math.MaxInt64
	}
	return n << 10
}

// containerMemory reads the lowest memory limit of this process's control groups, of
// version 2 or 1, see cgroups(7). It returns math.MaxInt64 if there is none.
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
		// The limits of parent groups hold, too. In a container the path may be the one on
		// the host, which does not exist here; the root does.
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

// Close removes the temporary file of the census, if there is one. The census must not be
// used afterwards.
func (c *Census) Close() error { return c.space.Close() }
