package gpid

import "io/fs"

// OfFS is [Of] with the given proc file system.
func OfFS(proc fs.FS, pid int) (Process, error) {
	here, err := readPlace(proc)
	if err != nil {
		return Process{}, err
	}
	return of(proc, here, pid)
}

// AliveFS is [Process.Alive] with the given proc file system.
func (p Process) AliveFS(proc fs.FS) (bool, error) {
	here, err := readPlace(proc)
	if err != nil {
		return false, err
	}
	return p.alive(proc, here)
}

// ProgramFS is [Process.Program] with the given proc file system.
func (p Process) ProgramFS(proc fs.FS) (uint32, error) {
	here, err := readPlace(proc)
	if err != nil {
		return 0, err
	}
	return p.program(proc, here)
}
