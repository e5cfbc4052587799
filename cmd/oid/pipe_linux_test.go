package main

import (
	"io"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// A pipe into which a command may write much holds more, unless its reader made it larger.
func TestPipeIsWide(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_, err = unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, pipeSize)
	r.Close()
	w.Close()
	if err != nil {
		t.Skipf("the kernel refuses a pipe of %d bytes: %v", pipeSize, err)
	}
	for _, before := range []int{1 << 12, 1 << 16, pipeSize / 2, pipeSize, 2 * pipeSize} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, before); err != nil {
			t.Logf("a pipe of %d bytes: %v", before, err) // needs a privilege
			continue
		}
		cmd := exec.CommandContext(t.Context(), "oid", "new")
		cmd.Stdout = w
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		after, err := unix.FcntlInt(r.Fd(), unix.F_GETPIPE_SZ, 0)
		w.Close()
		if id, _ := io.ReadAll(r); err != nil || after != max(before, pipeSize) || len(id) != 25 {
			t.Errorf("a pipe of %d bytes has %d afterwards, %v, and holds %q", before, after, err, id)
		}
		r.Close()
	}
}
