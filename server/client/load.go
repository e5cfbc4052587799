package client

import (
	"os"
	"runtime/metrics"
	"strconv"
	"strings"

	"github.com/oidkit/oid/server/wire"
)

// The numbers of /proc/self/stat that a heartbeat reports, counted from the one after
// the name of the program; see proc_pid_stat(5).
const (
	statUser    = 11 // processor time, in ticks
	statSystem  = 12 // of the kernel, likewise
	statThreads = 17
	statPages   = 21 // resident
	statNumbers = 22

	ticks = 100 // in a second, on every architecture that Go runs on
)

// ownLoad returns what Go, and /proc where there is one, show of this process.
func ownLoad() wire.Load {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/sched/goroutines:goroutines"}}
	metrics.Read(s)
	load := wire.Load{HeapBytes: new(int64(s[0].Value.Uint64())), Goroutines: new(int64(s[1].Value.Uint64()))}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		load.Files = new(int64(len(files) - 1)) // without that of the folder
	}
	stat, _ := os.ReadFile("/proc/self/stat")
	text := string(stat)
	numbers := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // the name may have blanks and parentheses
	if len(numbers) < statNumbers {
		return load
	}
	number := func(i int) int64 {
		n, _ := strconv.ParseInt(numbers[i], 10, 64) // the kernel writes nothing else
		return n
	}
	load.CPUSeconds = new(float64(number(statUser)+number(statSystem)) / ticks)
	load.MemoryBytes = new(number(statPages) * int64(os.Getpagesize()))
	load.Threads = new(number(statThreads))
	return load
}
