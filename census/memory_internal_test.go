package census

import (
	"math"
	"testing"
	"testing/fstest"
)

// TestMemoryLimit reads the limits of machines and containers.
func TestMemoryLimit(t *testing.T) {
	const meminfo = "MemFree:  1 kB\nMemTotal:       16000000 kB\nMemAvailable: 7 kB\n"
	const gib = 1 << 30
	for name, test := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing is known":   {nil, math.MaxInt64},
		"a machine":          {map[string]string{"proc/meminfo": meminfo}, 8000000 << 10},
		"meminfo of nothing": {map[string]string{"proc/meminfo": "MemTotal: much\n"}, math.MaxInt64},
		"a container": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "4294967296\n",
		}, 2 * gib},
		"without a limit": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n",
		}, 8000000 << 10},
		"limited above": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "2147483648",
		}, gib},
		"limited below": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "2147483648", "sys/fs/cgroup/a/memory.max": "4294967296",
		}, gib},
		"the path of the host": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/host/x\n", "sys/fs/cgroup/memory.max": "2147483648",
		}, gib},
		"version 1": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "3:cpu,cpuacct:/c\n2:memory:/docker/x\n", "sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes": "2147483648",
			"sys/fs/cgroup/memory/c/memory.limit_in_bytes": "1",
		}, gib},
		"more than the machine has": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "2:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
		}, 8000000 << 10},
	} {
		files := fstest.MapFS{}
		for path, data := range test.files {
			files[path] = &fstest.MapFile{Data: []byte(data)}
		}
		if got := memoryLimit(files); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
	if n := MemoryLimit(); n <= 0 {
		t.Errorf("this machine: %d", n)
	}
}

// TestInMemory holds how many ids a limit allows.
func TestInMemory(t *testing.T) {
	for limit, want := range map[int64]int{
		1: leastInMemory, overhead: leastInMemory, overhead + 24*leastInMemory + 23: leastInMemory,
		overhead + 24*(leastInMemory+1): leastInMemory + 1, overhead + 24_000_000: 1_000_000,
	} {
		if got := inMemory(limit); got != want {
			t.Errorf("inMemory(%d) = %d, want %d", limit, got, want)
		}
	}
}
