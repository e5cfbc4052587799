package lockfaults

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// setWallClock steps the wall clock of this worker. It is nil in programs not built by
// [steppable].
var setWallClock func(ahead time.Duration)

var start = time.Now()

// clock returns the time, without any steps of the wall clock since the program started.
func clock() time.Time { return start.Add(time.Since(start)) }

// step steps the wall clock of this worker by the duration in text.
func step(text string) (event, error) {
	ahead, err := time.ParseDuration(text)
	if err != nil {
		return event{}, err
	}
	if setWallClock == nil {
		return event{}, errors.New("this program cannot step its clock")
	}
	setWallClock(ahead)
	if off := time.Now().Round(0).Sub(clock().Round(0)) - ahead; off.Abs() > time.Second {
		return event{}, fmt.Errorf("the wall clock was set %v ahead and is off by %v", ahead, off)
	}
	return event{Kind: stepped, From: clock()}, nil
}

// Sources that [steppable] adds to the program.
const (
	timeSource = `package time

import "sync/atomic"

var ahead atomic.Int64 // of the wall clock, in seconds

func SetAhead(d Duration) { ahead.Store(int64(d / Second)) }
`
	workerSource = `package lockfaults

import "time"

func init() { setWallClock = time.SetAhead }
`
)

// nowStart matches the beginning of time.Now, where a variable has the seconds of the wall
// clock.
var nowStart = regexp.MustCompile(`(?m)^func Now\(\) Time \{\n\t(\w+), \w+, \w+ := \w+\(\)\n`)

// steppable builds the test program of the current folder again, with a copy of package time
// in which the wall clock can be stepped. The monotonic clock, which timers and differences
// of times use, is unchanged. The result is an open file without a name, which disappears
// with this process.
var steppable = sync.OnceValues(func() (*os.File, error) {
	folder, err := os.MkdirTemp("", "lockfaults")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	sources, err := goCommand("list", "-f", "{{.Dir}}", "time", "github.com/oidkit/oid/internal/lockfaults")
	if err != nil {
		return nil, err
	}
	timeFolder, ownFolder, _ := strings.Cut(strings.TrimSpace(sources), "\n")
	original := filepath.Join(timeFolder, "time.go")
	text, err := os.ReadFile(original)
	if err != nil {
		return nil, err
	}
	if len(nowStart.FindAll(text, 2)) != 1 {
		return nil, fmt.Errorf("%s: time.Now does not begin as expected", original)
	}
	overlay := struct{ Replace map[string]string }{make(map[string]string)}
	for path, source := range map[string]string{
		original:                                 string(nowStart.ReplaceAll(text, []byte("${0}\t$1 += ahead.Load()\n"))),
		filepath.Join(timeFolder, "ahead.go"):    timeSource,
		filepath.Join(ownFolder, "steppable.go"): workerSource,
	} {
		file := filepath.Join(folder, filepath.Base(path))
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			return nil, err
		}
		overlay.Replace[path] = file
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		return nil, err
	}
	file, program := filepath.Join(folder, "overlay.json"), filepath.Join(folder, "worker")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		return nil, err
	}
	if _, err := goCommand("test", "-c", "-overlay", file, "-o", program, "."); err != nil {
		return nil, err
	}
	return os.Open(program)
})

func goCommand(args ...string) (string, error) {
	out, err := exec.Command("go", args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, out)
	}
	return string(out), nil
}

// steppedClock sets the wall clock of the holder's host a minute ahead, and then a minute
// behind the true time.
func steppedClock(l *lab) {
	l.server = testenv.Redis(l.t) // skip the test without Redis before steppable, which may take minutes
	testenv.Program(l.t, "go", "golang")
	program := testenv.Must(steppable())(l.t)
	holder := l.prepare("holder", order{URL: l.server.URL(), Wait: wait, program: fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), program.Fd())})
	holder.begin()
	l.holds(holder)
	l.start("waiter 1", l.server.URL(), TTL/20, 3*wait)
	l.start("waiter 2", l.server.URL(), TTL/20, 3*wait)
	for _, ahead := range []time.Duration{time.Minute, -time.Minute} {
		time.Sleep(TTL / 2)
		l.setClock(holder, ahead)
		time.Sleep(2 * TTL)
	}
	holder.stdin.Close()
	time.Sleep(TTL)
}

// setClock sets the wall clock of a worker ahead.
func (l *lab) setClock(w *worker, ahead time.Duration) {
	l.t.Helper()
	from := time.Now()
	fmt.Fprintln(w.stdin, ahead)
	l.await(w.name+"'s clock is stepped", func(e event) bool { return is(w.name, stepped)(e) && e.From.After(from) })
}
