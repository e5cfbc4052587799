package registry

import (
	"errors"
	"fmt"
	"runtime/metrics"
	"time"

	"github.com/prometheus/procfs"

	"github.com/oidkit/oid/gpid"
)

// Unknown stands for a number of [Load] that could not be read.
const Unknown = -1

// Load is what a process uses. A number is [Unknown] if the system, the
// permissions or the process's language do not tell it.
type Load struct {
	// CPU is the processor time used since the process began.
	CPU time.Duration `bson:"cpu" json:"cpu_ns"`
	// RSS is the memory that it has in RAM, in bytes.
	RSS int64 `bson:"rss" json:"rss_bytes"`
	// Files is how many file descriptors are open.
	Files int64 `bson:"files" json:"files"`
	// Threads of the kernel.
	Threads int64 `bson:"threads" json:"threads"`
	// Goroutines and Heap, in bytes, of a Go process that joined.
	Goroutines int64 `bson:"goroutines" json:"goroutines"`
	Heap       int64 `bson:"heap" json:"heap_bytes"`
}

// Sample is the load of a process at a time.
type Sample struct {
	Time time.Time `json:"time"`
	Load
}

// sampleDoc is how a sample is stored; its time is in its key.
type sampleDoc struct {
	Key  string `bson:"_id"`
	Load `bson:",inline"`
}

// errEnded means that the sampled process runs no longer.
var errEnded = errors.New("process has ended")

// errOther means that the pid is another process's, or of one that is no more.
var errOther = errors.New("stat is that of another process, or of one that has ended")

// sampler reads the load of one process.
type sampler struct {
	root   string       // of the proc file system
	kernel gpid.Process // whose load; for this process zero if it is not known
	self   bool         // it is this process
	told   *Load        // not nil: what somebody told of a process
}

// take reads the load. What could be read is returned beside an error. The error
// wraps errEnded if the process, and not only its pid, is there no longer.
func (s *sampler) take() (load Load, err error) {
	if s.told != nil {
		return *s.told, nil
	}
	load = noLoad
	if s.self {
		load.Goroutines, load.Heap = runtimeLoad()
	}
	defer func() {
		// procfs slices what it reads without looking at its length.
		if p := recover(); p != nil {
			err = fmt.Errorf("registry: read load of process %d: stat is cut short: %v", s.kernel.PID, p)
		}
	}()
	fs, err := procfs.NewFS(s.root)
	if err != nil {
		return load, fmt.Errorf("registry: read load: %w", err)
	}
	var proc procfs.Proc
	if s.self {
		proc, err = fs.Self()
	} else {
		proc, err = fs.Proc(s.kernel.PID)
	}
	if err != nil {
		return load, s.explain(err)
	}
	files, filesErr := proc.FileDescriptorsLen()
	// The stat file comes last: if it is the right process's, so was the rest.
	stat, err := proc.Stat()
	if err != nil {
		return load, s.explain(err)
	}
	known := s.kernel != gpid.Process{}
	if known && stat.Starttime != s.kernel.Ticks || stat.State == "Z" || stat.State == "X" {
		return load, s.explain(errOther)
	}
	load.CPU = time.Duration(stat.CPUTime() * float64(time.Second))
	load.RSS = int64(stat.ResidentMemory())
	load.Threads = int64(stat.NumThreads)
	if filesErr == nil {
		load.Files = int64(files)
	} // else they are another user's, which is no news
	return load, nil
}

// explain says whether the process has ended, which an unreadable /proc alone
// does not say.
func (s *sampler) explain(err error) error {
	if !s.self {
		if alive, aliveErr := s.kernel.Alive(); aliveErr == nil && !alive {
			err = errEnded
		}
	}
	return fmt.Errorf("registry: read load of process %d: %w", s.kernel.PID, err)
}

// runtimeLoad asks this process's Go runtime, which does not stop for it.
func runtimeLoad() (goroutines, heap int64) {
	s := []metrics.Sample{{Name: "/sched/goroutines:goroutines"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return number(s[0].Value), number(s[1].Value)
}

func number(v metrics.Value) int64 {
	if v.Kind() != metrics.KindUint64 {
		return Unknown
	}
	return int64(v.Uint64())
}
