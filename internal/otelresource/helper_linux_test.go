package otelresource

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// helper is the variable that makes the test program another process, see TestMain.
const helper = "OTELRESOURCE_HELPER"

func TestMain(m *testing.M) {
	switch os.Getenv(helper) {
	case "publish":
		publish()
	case "read": // as another user
		var pid int
		fmt.Sscan(os.Args[1], &pid)
		said, err := (&Reader{PID: pid}).Read()
		fmt.Println(said.Name, errors.Is(err, fs.ErrPermission), err)
	default:
		os.Exit(m.Run())
	}
}

// publish does what an SDK does, with the requests that it reads: "publish PAYLOAD" publishes
// a payload, "header BYTES" writes over the beginning of the mapping, "drop" removes the mapping,
// "environ SIZE" makes other memory the environment, and "flood A B" publishes A and B in turn for ever. Payloads and bytes are hexadecimal.
func publish() {
	var memory, payload []byte
	try := func(err error) {
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
	}
	at := func(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(&b[0]))) }
	set := func(b []byte) {
		if memory == nil {
			fd, err := unix.MemfdCreate("OTEL_CTX", unix.MFD_CLOEXEC)
			try(err)
			try(unix.Ftruncate(fd, 4096))
			memory, err = unix.Mmap(fd, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
			try(err)
			try(unix.Close(fd))
		}
		binary.LittleEndian.PutUint64(memory[16:], 0) // the proposal's order
		payload = append(b, 0)
		binary.LittleEndian.PutUint32(memory[8:], 2)
		binary.LittleEndian.PutUint32(memory[12:], uint32(len(b)))
		binary.LittleEndian.PutUint64(memory[24:], at(payload))
		binary.LittleEndian.PutUint64(memory[16:], uint64(time.Now().UnixNano()))
		copy(memory, "OTEL_CTX")
	}
	bytesOf := func(text string) []byte {
		b, err := hex.DecodeString(text)
		try(err)
		return b
	}
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); fmt.Println("ready") {
		words := append(strings.Fields(in.Text()), "", "")
		switch words[0] {
		case "publish":
			set(bytesOf(words[1]))
		case "header":
			copy(memory, bytesOf(words[1]))
		case "environ":
			var size uint64
			_, err := fmt.Sscan(words[1], &size)
			try(err)
			try(nameEnvironment(size))
		case "drop":
			try(unix.Munmap(memory))
			memory = nil
		case "flood":
			a, b := bytesOf(words[1]), bytesOf(words[2]) // of one length, written over each other
			spin := func() {
				for since := time.Now(); time.Since(since) < 10*time.Microsecond; {
				}
			}
			set(slices.Clone(a))
			go func() {
				for {
					binary.LittleEndian.PutUint64(memory[16:], 0)
					n := copy(payload[:len(b)/2], b)
					spin()
					copy(payload[n:], b[n:])
					binary.LittleEndian.PutUint64(memory[16:], uint64(time.Now().UnixNano()))
					spin()
					a, b = b, a
				}
			}()
		}
	}
}

// publisher is a process that publishes.
type publisher struct {
	t   *testing.T
	pid int
	in  *os.File
	out *bufio.Scanner
}

// startPublisher starts a process with further variables in its environment.
func startPublisher(t *testing.T, env ...string) *publisher {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append([]string{helper + "=publish"}, env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	p := &publisher{t: t, pid: cmd.Process.Pid, in: in.(*os.File), out: bufio.NewScanner(out)}
	p.wait()
	return p
}

func (p *publisher) wait() {
	p.t.Helper()
	if !p.out.Scan() || p.out.Text() != "ready" {
		p.t.Fatalf("the publisher says %q, %v", p.out.Text(), p.out.Err())
	}
}

// ask sends a request.
func (p *publisher) ask(words string, args ...[]byte) {
	p.t.Helper()
	for _, a := range args {
		words += fmt.Sprintf(" %x", a)
	}
	if _, err := fmt.Fprintln(p.in, words); err != nil {
		p.t.Fatal(err)
	}
	p.wait()
}

// nameEnvironment makes memory of size bytes, which is zero, the environment of this process.
func nameEnvironment(size uint64) error {
	memory, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return err
	}
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return err
	}
	words := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	field := func(number int) (n uint64) { // by proc_pid_stat(5)
		_, err = fmt.Sscan(words[number-3], &n)
		return n
	}
	at := uint64(uintptr(unsafe.Pointer(&memory[0])))
	brk, _, _ := unix.RawSyscall(unix.SYS_BRK, 0, 0, 0)
	m := struct { // struct prctl_mm_map
		startCode, endCode, startData, endData, startBrk, brk, startStack, argStart, argEnd, envStart, envEnd, auxv uint64
		auxvSize, exe                                                                                               uint32
	}{
		field(26), field(27), field(45), field(46), field(47), uint64(brk), field(28), field(48), field(49), at, at + size, 0,
		0, ^uint32(0),
	}
	return unix.Prctl(unix.PR_SET_MM, unix.PR_SET_MM_MAP, uintptr(unsafe.Pointer(&m)), unsafe.Sizeof(m), 0)
}
