package gpid

import "io/fs"

// in calls do with the given proc file system.
func in[T any](proc fs.FS, do func() (T, error)) (T, error) {
	defer func(before func() (fs.FS, scope, error)) { system = before }(system)
	system = func() (fs.FS, scope, error) {
		here, err := readScope(proc)
		return proc, here, err
	}
	return do()
}

// ProcessOfFS is [ProcessOf] with the given proc file system.
func ProcessOfFS(proc fs.FS, pid int) (Process, error) {
	return in(proc, func() (Process, error) { return ProcessOf(pid) })
}

// AliveFS is [Process.Alive] with the given proc file system.
func (p Process) AliveFS(proc fs.FS) (bool, error) { return in(proc, p.Alive) }

// ProgramFS is [Process.Program] with the given proc file system.
func (p Process) ProgramFS(proc fs.FS) (uint32, error) { return in(proc, p.Program) }

// KnowsItsScope reports whether the scope of this process was read, and is not read again.
func KnowsItsScope() bool { return own.Load() != nil }
