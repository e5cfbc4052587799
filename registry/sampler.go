package registry

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"

	"github.com/prometheus/procfs"

	"github.com/oidkit/oid/gpid"
)

// ProcessEnded is the [End].Reason of a process if the kernel has shown that the process no
// longer runs. [Process.Measure] returns it too.
const ProcessEnded = "process ended"

// replaced is the reason in [End] if the process has started another program with exec.
const replaced = "replaced by exec"

// errEnded means that the sampled process no longer runs. It is the reason for its end.
type errEnded string

func (e errEnded) Error() string { return string(e) }

// endOf returns the reason for the end of the sampled process, or "" if err does not show
// that it has ended.
func endOf(err error) string {
	end, _ := errors.AsType[errEnded](err)
	return string(end)
}

// Measure returns the load of p, which must be a process of this host. Measure uses only
// p.Kernel and p.Program, which [Describe] sets. If the kernel shows that p has ended, end is
// the reason, such as [ProcessEnded]; otherwise end is empty. Numbers that cannot be read are
// [Unmeasured].
func (p *Process) Measure() (load Load, end string) {
	load, err := (&sampler{root: "/proc", kernel: p.Kernel, program: p.Program}).take()
	return load, endOf(err)
}

// sampler reads the load of one process.
type sampler struct {
	root   string       // of the proc file system
	kernel gpid.Process // the sampled process; zero if it is this one and not known
	self   bool         // the sampled process is this one

	program uint32 // of the process, or 0, see [gpid.Process.Program]
}

// take reads the load. With an error it returns the numbers that could be read. The error
// wraps errEnded if the kernel shows that the process has ended. Of this process, it returns
// what the Go runtime knows on systems other than Linux.
func (s *sampler) take() (load Load, err error) {
	load = noLoad
	if s.self {
		runtimeLoad(&load)
		if runtime.GOOS != "linux" {
			return load, nil
		}
	}
	defer func() {
		// procfs slices the file without checking its length.
		if p := recover(); p != nil {
			err = fmt.Errorf("its stat file is truncated: %v", p)
		}
		if end := s.running(); endOf(end) != "" { // an unreadable file alone does not show that
			err = end
		}
		if err != nil {
			err = fmt.Errorf("registry: read load of process %d: %w", s.kernel.PID, err)
		}
	}()
	fs, err := procfs.NewFS(s.root)
	if err != nil {
		return load, err
	}
	var proc procfs.Proc
	if s.self {
		proc, err = fs.Self()
	} else {
		proc, err = fs.Proc(s.kernel.PID)
	}
	if err != nil {
		return load, err
	}
	r := reading{files: Unmeasured}
	if files, err := proc.FileDescriptorsLen(); err == nil {
		r.files = int64(files)
	} // otherwise they are hidden, because the process belongs to another user
	// The stat file comes last: if it belongs to the right process, so did the rest.
	if r.stat, err = proc.Stat(); err != nil {
		return load, err
	}
	if known := s.kernel != (gpid.Process{}); known && r.stat.Starttime != s.kernel.Ticks || r.stat.State == "Z" || r.stat.State == "X" {
		return load, errors.New("the process has ended, or another one has its pid now")
	}
	for i := range loadFields {
		if f := &loadFields[i]; f.proc != nil {
			*f.Of(&load) = f.proc(&r)
		}
	}
	return load, nil
}

// running returns errEnded if the kernel shows that the process has ended or has started
// another program. Other errors mean that this is not known.
func (s *sampler) running() error {
	if s.self {
		return nil
	}
	alive, err := s.kernel.Alive()
	if err != nil {
		return err
	}
	if !alive {
		return errEnded(ProcessEnded)
	}
	if program, err := s.kernel.Program(); err == nil && program != 0 && s.program != 0 && program != s.program {
		return errEnded(replaced)
	}
	return nil
}

// runtimeLoad reads metrics of the Go runtime of this process, without stopping the
// program.
func runtimeLoad(load *Load) {
	for i := range loadFields {
		if f := &loadFields[i]; f.metric != "" {
			s := []metrics.Sample{{Name: f.metric}}
			metrics.Read(s)
			if v := s[0].Value; v.Kind() == metrics.KindUint64 { // otherwise this runtime does not have it
				*f.Of(load) = int64(v.Uint64())
			}
		}
	}
}
