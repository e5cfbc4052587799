package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/oidkit/oid/examples/verify/internal/judge"
)

const (
	// resumedCopies is how many copies of the stopped process are resumed.
	resumedCopies = 2

	// resumeAfter is the time between the stop and the first copy.
	resumeAfter = 1100 * time.Millisecond
)

// criuMissing returns why CRIU cannot be used here, or "".
func criuMissing() string {
	if _, err := exec.LookPath("criu"); err != nil {
		return "criu is not installed"
	}
	if out, err := exec.Command("criu", "check").CombinedOutput(); err != nil {
		return "criu check: " + errorsOf(out, err)
	}
	return ""
}

var criuError = regexp.MustCompile(`(?m)^.*?Error \([^)]*\): (.*)$`)

// errorsOf returns the errors that a log of CRIU has, or else err.
func errorsOf(log []byte, err error) string {
	var all []string
	for _, found := range criuError.FindAllSubmatch(log, -1) {
		all = append(all, string(bytes.TrimSpace(found[1])))
	}
	return cmp.Or(strings.Join(all, "; "), err.Error())
}

// resumed is a command that is stopped, and whose copies are resumed by CRIU.
type resumed struct {
	*options
	dir  string
	seen [3]string // the pipes of the command's input, output and errors, as CRIU names them
	pid  int
}

// readResumed runs the command up to a checkpoint, and then copies of it, one after the
// other because they have the same pid. It returns the ids of each.
func (o *options) readResumed(ctx context.Context, dir string) ([]*judge.Stream, error) {
	r := resumed{options: o, dir: dir}
	before, err := r.stop(ctx)
	if err != nil {
		return nil, err
	}
	found := []*judge.Stream{before}
	select { // a generator may draw another process value and go on with the next second
	case <-time.After(resumeAfter):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	for n := range resumedCopies {
		if err := writeVMClock(r.clock(), uint64(n)+1); err != nil {
			return nil, err
		}
		copied, err := r.resume(ctx, fmt.Sprint("copy ", n+1))
		if err != nil {
			return nil, err
		}
		found = append(found, copied)
	}
	return found, nil
}

func (r *resumed) clock() string { return filepath.Join(r.dir, "vmclock0") }

// writeVMClock writes a file in the format of /dev/vmclock0. It overwrites the file in place,
// because programs that have mapped it would not see a new file.
func writeVMClock(name string, generation uint64) error {
	page := make([]byte, 4096)
	little := binary.LittleEndian
	little.PutUint32(page, 0x4b4c4356) // "VCLK"
	little.PutUint32(page[4:], uint32(len(page)))
	little.PutUint16(page[8:], 1)
	little.PutUint64(page[0x18:], 1<<8) // it has the generation counter
	little.PutUint64(page[0x68:], generation)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(page, 0)
	return errors.Join(err, f.Close())
}

// pipes are what a run of the command reads and writes.
type pipes struct{ in, out, errs, inEnd, outEnd, errsEnd *os.File }

// newPipes returns pipes, of which errs is copied to standard error.
func newPipes() (p pipes, err error) {
	if p.inEnd, p.in, err = os.Pipe(); err == nil {
		if p.out, p.outEnd, err = os.Pipe(); err == nil {
			p.errs, p.errsEnd, err = os.Pipe()
		}
	}
	if err != nil {
		p.close()
		return p, err
	}
	go func() { _, _ = io.Copy(os.Stderr, p.errs) }()
	return p, nil
}

// ends are the files of the command.
func (p pipes) ends() []*os.File { return []*os.File{p.inEnd, p.outEnd, p.errsEnd} }

func (p pipes) close() {
	for _, f := range append(p.ends(), p.in, p.out) {
		if f != nil {
			f.Close()
		}
	}
}

// stop starts the command, reads its ids, and stops it while it waits for a line. The images
// of its memory are then in r.dir.
func (r *resumed) stop(ctx context.Context) (*judge.Stream, error) {
	const name = "the command"
	p, err := newPipes()
	if err != nil {
		return nil, err
	}
	defer p.close()
	for i, f := range p.ends() {
		if r.seen[i], err = os.Readlink(fmt.Sprint("/proc/self/fd/", f.Fd())); err != nil {
			return nil, err
		}
	}
	if err := writeVMClock(r.clock(), 0); err != nil {
		return nil, err
	}
	cmd := exec.Command(r.command[0], r.command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.inEnd, p.outEnd, p.errsEnd
	cmd.Env = append(os.Environ(), "OID_VERIFY=resume", fmt.Sprint("OID_VERIFY_IDS=", r.ids), "OID_VMCLOCK="+r.clock())
	ownSession(cmd)
	if err := cmd.Start(); err != nil {
		return nil, usagef("the command cannot be started: %w", err)
	}
	r.pid = cmd.Process.Pid
	reader := &program{name: name, cmd: cmd, out: p.out, timeout: r.timeout, waited: make(chan struct{})}
	defer func() {
		killGroup(cmd)
		<-reader.waited
	}()
	go func() {
		_ = cmd.Wait() // the state says how it ended
		close(reader.waited)
	}()
	for _, f := range p.ends() {
		f.Close()
	}
	defer context.AfterFunc(ctx, func() { killGroup(cmd) })()
	before, err := r.read(ctx, reader)
	if err != nil {
		return nil, err
	}
	for try := range 5 { // a child that is just ending cannot be stopped
		if err = r.criu(ctx, nil, "dump", "--tree", fmt.Sprint(r.pid)); err == nil || ctx.Err() != nil {
			break
		}
		time.Sleep(time.Duration(try) * 100 * time.Millisecond)
	}
	if err != nil {
		if how := reader.ended(); how != stillRuns {
			return nil, fmt.Errorf("the command ended after its ids and did not wait for a line; OID_VERIFY is resume, see verify --help (%s)", how)
		}
		return nil, fmt.Errorf("CRIU cannot stop the command: %w", err)
	}
	return before, nil
}

// resume resumes a copy of the command and reads its ids.
func (r *resumed) resume(ctx context.Context, name string) (*judge.Stream, error) {
	cmd := &exec.Cmd{Process: &os.Process{Pid: r.pid}}
	for wait := time.Millisecond; !groupEnded(cmd) && wait < 4*time.Second; wait *= 2 { // a copy needs the same pid
		time.Sleep(wait)
	}
	p, err := newPipes()
	if err != nil {
		return nil, err
	}
	defer p.close()
	ended := make(chan error, 1)
	go func() {
		ended <- r.criu(ctx, p.ends(), "restore",
			"--inherit-fd", "fd[3]:"+r.seen[0], "--inherit-fd", "fd[4]:"+r.seen[1], "--inherit-fd", "fd[5]:"+r.seen[2])
		p.outEnd.Close()
	}()
	if _, err := p.in.WriteString("\n"); err != nil { // the command goes on when it has read a line
		return nil, err
	}
	copied := &program{name: name, cmd: cmd, out: p.out, timeout: r.timeout}
	stream, err := r.read(ctx, copied)
	var failed error
	select {
	case failed = <-ended:
	default:
		killGroup(cmd)
		<-ended
	}
	if err != nil && failed != nil {
		return nil, fmt.Errorf("CRIU cannot resume the command: %w", failed)
	}
	return stream, err
}

// read reads the ids that the command, or a copy, writes until it waits or ends.
func (r *resumed) read(ctx context.Context, p *program) (*judge.Stream, error) {
	defer context.AfterFunc(ctx, func() { _ = p.out.SetReadDeadline(time.Now()) })()
	reader := &judge.Reader{Name: p.name, Want: r.ids, Held: judge.HeldBytes, Clock: judge.NewClock(judge.Running, time.Now(), time.Now)}
	reader.Clock.Sleep = time.Sleep
	found, err := reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s ended after %d ids, want %d; when OID_VERIFY is resume, it writes its ids, waits for a line and writes as many again; see verify --help", p.name, found[0].IDs(), r.ids)
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// criu runs CRIU with the images in r.dir.
func (r *resumed) criu(ctx context.Context, files []*os.File, action string, args ...string) error {
	cmd := exec.CommandContext(ctx, "criu", append([]string{action, "--images-dir", r.dir, "--log-file", action + ".log"}, args...)...)
	cmd.ExtraFiles = files
	if err := cmd.Run(); err != nil {
		log, _ := os.ReadFile(filepath.Join(r.dir, action+".log")) // without a log, the error says less
		return errors.New(errorsOf(log, err))
	}
	return nil
}
