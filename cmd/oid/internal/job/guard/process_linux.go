package guard

import (
	"bytes"
	"os"
	"strconv"
)

// Process is a process that has not ended.
type Process struct {
	PID, Parent, Group int
	Name               string // of its program
	Stopped            bool
}

// Descendants returns the processes that descend from pid and have not ended.
func Descendants(pid int) (found []Process) {
	children := listedChildren
	if _, err := os.Stat("/proc/thread-self/children"); err != nil { // this kernel has no lists
		children = childrenOfAll()
	}
	for parents := []int{pid}; len(parents) > 0; parents = parents[1:] {
		for _, p := range children(parents[0]) {
			found = append(found, p)
			parents = append(parents, p.PID)
		}
	}
	return found
}

// listedChildren returns the children of a process by the lists of the kernel, see
// proc_pid_task(5). Unlike childrenOfAll, it is fast enough to find processes that start
// another process and end at once.
func listedChildren(pid int) (found []Process) {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task/"
	threads, _ := os.ReadDir(tasks)
	for _, thread := range threads {
		text, _ := os.ReadFile(tasks + thread.Name() + "/children") // the thread may have ended
		for child := range bytes.FieldsSeq(text) {
			if p, ok := read(string(child)); ok {
				found = append(found, p)
			}
		}
	}
	return found
}

// childrenOfAll reads all processes, and returns a function that returns the children of one
// process.
func childrenOfAll() func(pid int) []Process {
	all, _ := os.ReadDir("/proc")
	children := make(map[int][]Process)
	for _, entry := range all {
		if p, ok := read(entry.Name()); ok {
			children[p.Parent] = append(children[p.Parent], p)
		}
	}
	return func(pid int) []Process { return children[pid] }
}

// read reads /proc/PID/stat, see proc_pid_stat(5). It returns false if the process has ended.
func read(pid string) (p Process, ok bool) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')') // a name may contain both
	if err != nil || open < 0 || end < open {
		return p, false
	}
	fields := bytes.Fields(text[end+1:])
	if len(fields) < 3 {
		return p, false
	}
	number := func(text []byte) int {
		n, _ := strconv.Atoi(string(text))
		return n
	}
	state := string(fields[0])
	p = Process{number([]byte(pid)), number(fields[1]), number(fields[2]), string(text[open+1 : end]), state == "T" || state == "t"}
	return p, p.PID > 0 && state != "Z" && state != "X"
}
