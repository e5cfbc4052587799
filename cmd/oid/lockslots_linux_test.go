package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// slotWork is the command of a holder. It says when it begins and ends, and whether the
// holder before it still runs.
const slotWork = `slot=$0/$OID_LOCK_SLOT
if read -r old && read -r _ _ state _ <"/proc/$old/stat" && [ "$state" != Z ]; then echo "overlap $OID_LOCK_SLOT $old" >>$0/log; fi 2>/dev/null <$slot
echo $$ >$slot
echo "begin $OID_LOCK_SLOT $EPOCHREALTIME" >>$0/log
echo $OID_LOCK_SLOT
sleep $1
echo "end $OID_LOCK_SLOT $EPOCHREALTIME" >>$0/log`

// Twenty commands want three slots, and some holders are killed. There are never four
// holders, and a slot is not idle for more than 50 ms while others wait, beside the time
// that this machine takes meanwhile to start a command under a lock of its own. Other work
// of the machine makes a round slower, and none faster: the best of a few counts.
func TestLockSlots(t *testing.T) {
	for backend, url := range map[string]string{"Redis": testenv.Redis(t).URL(), "file": "file:" + t.TempDir()} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			const rounds = 6
			for round := 1; ; round++ {
				idle, start := slotsRound(t, url)
				t.Logf("slots were idle for %v; a command alone begins after %v", idle, start)
				if idle[len(idle)/2] <= 50*time.Millisecond+start[len(start)*3/4] {
					break
				}
				if round == rounds {
					t.Fatal("in each round slots were idle for more than 50ms half of the times")
				}
			}
		})
	}
}

// slotsRound returns, in order, for how long slots were idle, and how long a command that
// waits for nobody took to begin.
func slotsRound(t *testing.T, url string) (idle, start []time.Duration) {
	t.Helper()
	const commands, slots = 20, 3
	dir, other := t.TempDir(), t.TempDir()
	begin := func(name, dir, seconds string) *holding {
		return startLock(t, []string{"LC_ALL=C"}, name, "--locks", url, "--slots", fmt.Sprint(slots), "--", "bash", "-c", slotWork, dir, seconds)
	}
	var holders []*holding
	for i := range commands {
		seconds := "0.2"
		if i < slots {
			seconds = "2" // until the others wait
		}
		h := begin("pool", dir, seconds)
		if i < slots {
			h.line()
		}
		holders = append(holders, h)
	}
	var all, alone sync.WaitGroup
	done := make(chan struct{})
	alone.Go(func() {
		for {
			began := time.Now()
			h := begin("other", other, "0")
			h.line()
			start = append(start, time.Since(began))
			h.code()
			select {
			case <-done:
				return
			default:
			}
		}
	})
	for i, h := range holders {
		all.Go(func() {
			want := 0
			if i >= slots && i%4 == 0 {
				slot := h.line()
				h.signal(syscall.SIGKILL)
				appendTo(t, filepath.Join(dir, "log"), fmt.Sprintf("end %s %.6f\n", slot, float64(time.Now().UnixMicro())/1e6))
				want = 128 + 9
			}
			if code := h.code(); code != want {
				t.Errorf("command %d: exit code %d, want %d; said %s", i, code, want, h.stderr.String())
			}
		})
	}
	all.Wait()
	close(done)
	alone.Wait()
	idle = slotGaps(t, filepath.Join(dir, "log"), commands)
	slices.Sort(idle)
	slices.Sort(start)
	return idle, start
}

func appendTo(t *testing.T, path, line string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(line)
		f.Close()
	}
	if err != nil {
		t.Error(err)
	}
}

// slotGaps returns the times from the end of each holder to the beginning of the next in
// the same slot. It checks that each began once, and after the end of that before.
func slotGaps(t *testing.T, log string, commands int) (gaps []time.Duration) {
	t.Helper()
	type event struct {
		what string
		slot int
		at   float64
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var events []event
	for line := range strings.Lines(string(text)) {
		var e event
		if _, err := fmt.Sscan(line, &e.what, &e.slot, &e.at); err != nil || e.what == "overlap" {
			t.Errorf("log: %s: %v", line, err)
		}
		events = append(events, e)
	}
	slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	begun, ended := 0, make(map[int]float64)
	for _, e := range events {
		if e.what == "end" {
			ended[e.slot] = e.at
			continue
		}
		if begun++; begun > 3 {
			gaps = append(gaps, time.Duration((e.at-ended[e.slot])*float64(time.Second)).Round(time.Millisecond))
		}
	}
	if begun != commands || len(ended) != 3 {
		t.Errorf("%d commands began, want %d, in slots %v", begun, commands, ended)
	}
	return gaps
}
