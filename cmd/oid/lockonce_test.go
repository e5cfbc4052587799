//go:build unix

package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
)

// onceBackends returns URLs of all kinds of places that hold locks, stores among them.
func onceBackends(t *testing.T) map[string]string {
	places := map[string]string{
		"SQLite":     "sqlite:" + filepath.Join(t.TempDir(), "s.db"),
		"PostgreSQL": testenv.PostgresSchema(t, testenv.PostgresURL(t)),
		"MongoDB":    testenv.MongoDB(t),
	}
	maps.Copy(places, lockBackends(t))
	return places
}

// crontab is a job in the crontabs of three hosts.
type crontab struct {
	t      *testing.T
	url    string
	name   string
	period time.Duration
	job    time.Duration
	log    string // of the ticks that began, with the calls that ran them

	mu    sync.Mutex
	shown []string // the ticks that the record named to calls that were skipped
	late  []string // what calls said of a backend that does not answer
}

func newCrontab(t *testing.T, url, name string, period, job time.Duration) *crontab {
	return &crontab{t: t, url: url, name: name, period: period, job: job, log: filepath.Join(t.TempDir(), name)}
}

// hostClocks are by how much of the period the clocks of the hosts are ahead: all that a wrong
// clock does is that cron begins the command early or late.
var hostClocks = []float64{0, -1. / 3, 1. / 3}

// call is the call of a host at a tick. The first host has an exit code for the ticks of others.
// Cron must have nothing to mail.
func (c *crontab) call(host int, tick time.Time) {
	time.Sleep(time.Until(tick.Add(-time.Duration(hostClocks[host] * float64(c.period)))))
	call := fmt.Sprint(host, ":", tick.Unix())
	args := []string{
		// A release that the backend loses, as FerretDB may, costs a TTL: less than 15 periods.
		c.name, "--locks", c.url, "--ttl", "15s", "--once", c.period.String(), "--",
		"sh", "-c", fmt.Sprintf("echo $OID_LOCK_TICK %s >>%s; exec sleep %.2f", call, c.log, c.job.Seconds()),
	}
	if host == 0 {
		args = append([]string{"--skipped", "9"}, args...)
	}
	h := startLock(c.t, []string{"TZ=UTC"}, args...)
	code, said := h.code(), h.stderr.String()
	switch {
	case code == 9 && host == 0 && said == "":
		status := oid(c.t, "", "lock", "--status", c.name, "--locks", c.url, "--tz", "UTC").out
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, tick := range regexp.MustCompile(`(?m)^  (\S+) (?:done|running) on `).FindAllStringSubmatch(status, -1) {
			c.shown = append(c.shown, tick[1])
		}
	case code == exitLockFailed && strings.Contains(said, "between two ticks"): // the machine is slow
	case strings.Contains(said, "does not answer (no answer within"), code == exitLockLost && strings.Contains(said, "expired before it could be renewed"):
		c.mu.Lock()
		defer c.mu.Unlock()
		c.late = append(c.late, fmt.Sprintf("%s on host %d: exit code %d: %s", c.name, host, code, said))
	case code != 0, said != "" && !strings.Contains(said, "no earlier run of"):
		c.t.Errorf("%s on host %d: exit code %d, which cron does not expect; it mails %q", c.name, host, code, said)
	}
}

// check returns how many ticks began: each once, and all that the record has shown.
func (c *crontab) check() int {
	text, err := os.ReadFile(c.log)
	if err != nil {
		c.t.Fatal(err)
	}
	begun := make(map[string]int)
	for line := range strings.Lines(string(text)) {
		tick, _, _ := strings.Cut(line, " ")
		if begun[tick]++; begun[tick] > 1 {
			c.t.Errorf("%s: tick %s began %d times:\n%s", c.name, tick, begun[tick], text)
		}
	}
	for _, tick := range c.shown {
		if begun[tick] == 0 {
			c.t.Errorf("%s: tick %s was lost:\n%s", c.name, tick, text)
		}
	}
	return len(begun)
}

// Three hosts have the same crontab, and clocks that differ by a third of the period.
// Each tick is run once on every kind of backend, however long the job takes, and cron has
// nothing to mail.
func TestLockOncePerTick(t *testing.T) {
	t.Parallel()
	for backend, url := range onceBackends(t) {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			oncePerTick(t, url)
		})
	}
}

// slowestAnswer asks a backend of locks for a status all the time until the test ends, and
// returns a function that returns how long the slowest answer has taken until now.
func slowestAnswer(t *testing.T, url string) func() time.Duration {
	var mu sync.Mutex
	var slowest time.Duration
	asked := time.Now()
	took := func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		slowest = max(slowest, time.Since(asked))
		return slowest
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			oid(t, "", "lock", "--status", "other", "--locks", url)
			took()
			select {
			case <-end:
				return
			case <-time.After(500 * time.Millisecond):
			}
			mu.Lock()
			asked = time.Now()
			mu.Unlock()
		}
	}()
	t.Cleanup(func() { close(end); <-ended })
	return took
}

func oncePerTick(t *testing.T, url string) {
	const period = 1500 * time.Millisecond
	first := time.Now().Truncate(period).Add(2 * period)
	slowest := slowestAnswer(t, url)
	var tabs sync.WaitGroup
	for name, job := range map[string]time.Duration{"short": 100 * time.Millisecond, "third": period / 3, "long": 3 * period / 2} {
		c, ticks := newCrontab(t, url, name, period, job), testenv.Rounds(3, 30)
		if name == "long" {
			ticks = min(ticks, 20) // later ones would be late by 15 periods, the most that there may be
		}
		tabs.Go(func() {
			var calls sync.WaitGroup
			for host := range hostClocks {
				for i := range ticks {
					calls.Go(func() { c.call(host, first.Add(time.Duration(i)*period)) })
				}
			}
			calls.Wait()
			begun := c.check()
			if len(c.late) > 0 {
				// On a machine that is too slow for its server a tick may begin late or not at
				// all, and lose its lock. What began did so once all the same.
				if took := slowest(); took < 2*time.Second {
					t.Errorf("the backend answers within %v, and yet: %q", took, c.late)
				}
				return
			}
			if begun < ticks/2 { // calls that are too late for the last one may begin another
				t.Errorf("%s: only %d ticks began of %d", name, begun, ticks)
			}
			status := oid(t, "", "lock", "--status", name, "--locks", url).out
			if done := strings.Count(status, " done on "); done != min(begun, 16) {
				t.Errorf("%s: %d ticks of %d are shown as done: %s", name, done, begun, status)
			}
		})
	}
	tabs.Wait()
}

// A Redis that restarts without its data between two ticks costs no tick and repeats
// none. oid says that nothing is recorded.
func TestLockOnceAfterALossBetweenTicks(t *testing.T) {
	t.Parallel()
	redis := testenv.Redis(t)
	c := newCrontab(t, redis.URL(), "job", time.Second, 0)
	round := func() (tick time.Time) {
		tick = time.Now().Truncate(c.period).Add(2 * c.period)
		var hosts sync.WaitGroup
		for host := range hostClocks {
			hosts.Go(func() { c.call(host, tick) })
		}
		hosts.Wait()
		return tick
	}
	round()
	for losses := testenv.Rounds(2, 20); losses > 0; {
		if tick := round(); time.Since(tick) < c.period/2 {
			redis.Kill()
			redis.Start()
			losses--
		} else { // on a slow machine a call may have been for the next tick
			c.check()
			c = newCrontab(t, redis.URL(), c.name+"-slower", 2*c.period, 0)
			round()
		}
	}
	round()
	c.check()
}

// A Redis that restarts without its data between two calls for the same tick runs it
// again. Nobody can know better, and oid says so.
func TestLockOnceAfterALossWithinATick(t *testing.T) {
	redis := testenv.Redis(t)
	for i, step := range []struct {
		code int
		said string
	}{
		{0, `no earlier run of "job" is recorded`},
		{9, ""},
		{0, `no earlier run of "job" is recorded`},
	} {
		h := startLock(t, nil, "job", "--locks", redis.URL(), "--once", "key=2026-11-24", "--skipped", "9", "--", "true")
		if code, said := h.code(), h.stderr.String(); code != step.code || !strings.Contains(said, step.said) || (said == "") != (step.said == "") {
			t.Errorf("call %d: exit code %d, want %d; said %q", i, code, step.code, h.stderr.String())
		}
		if i == 1 {
			redis.Kill()
			redis.Start()
		}
	}
}

// If the host that began a tick has died, other hosts skip the tick, and the record says that the
// host died.
func TestLockOnceKnowsOfADeath(t *testing.T) {
	t.Parallel()
	redis := testenv.Redis(t)
	args := []string{"job", "--locks", redis.URL(), "--ttl", "1s", "--once", "key=a", "--skipped", "9", "--"}
	h := startLock(t, nil, append(args, "sh", "-c", "echo begun; exec sleep 1000")...)
	h.line()
	h.signal(syscall.SIGKILL)
	h.code()
	for began := time.Now(); !strings.HasPrefix(oid(t, "", "lock", "--status", "job", "--locks", redis.URL()).out, "job: free"); time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatal("the lock outlives its holder by a minute")
		}
	}
	late := startLock(t, nil, append(args, "true")...)
	if code, said := late.code(), late.stderr.String(); code != 9 || said != "" {
		t.Errorf("exit code %d, said %q; want 9 and nothing", code, said)
	}
	if status := oid(t, "", "lock", "--status", "job", "--locks", redis.URL()).out; !strings.Contains(status, "\n  a died on ") {
		t.Errorf("the status does not say that the host died: %s", status)
	}
}

// A lock that is lost is reported once.
func TestLockOnceSaysOnceThatTheLockIsLost(t *testing.T) {
	redis := testenv.Redis(t)
	h := startLock(t, nil, "job", "--locks", redis.URL(), "--ttl", "1s", "--once", "key=a", "--", "sh", "-c", "echo begun; exec sleep 1000")
	h.line()
	redis.CLI("FLUSHALL")
	if code, said := h.code(), h.stderr.String(); code != exitLockLost || strings.Count(said, "could not be recorded") != 1 {
		t.Errorf("exit code %d, want %d, and one report: %s", code, exitLockLost, said)
	}
}

// weekly returns a schedule whose ticks are at least a day away in every zone, whatever the time is.
func weekly() string { return fmt.Sprintf("0 0 * * %d", (time.Now().UTC().Weekday()+3)%7) }

// yearly returns a schedule whose last tick was about seven months ago.
func yearly() string {
	ago := time.Now().UTC().AddDate(0, -7, 0)
	return fmt.Sprintf("0 0 %d %d *", min(ago.Day(), 28), ago.Month())
}

// A tick that failed is run again with --retry alone, and the record says how it ended.
func TestLockOnceRetries(t *testing.T) {
	where := []string{"--locks", "file:" + t.TempDir(), "--once", "key=a"}
	for i, step := range []struct {
		flags  []string
		script string
		code   int
	}{
		{nil, "kill $$", 128 + 15},
		{[]string{"--skipped", "9"}, "echo ran", 9},
		{[]string{"--retry", "1"}, "exit 3", 3},
		{[]string{"--retry", "1", "--skipped", "9"}, "echo ran", 9},
		{[]string{"--retry", "2"}, "true", 0},
	} {
		h := startLock(t, nil, slices.Concat([]string{"job"}, where, step.flags, []string{"--", "sh", "-c", step.script})...)
		if h.lines.Scan() {
			t.Errorf("call %d ran the tick again", i)
		}
		if got := h.code(); got != step.code {
			t.Errorf("call %d: exit code %d, want %d; said %s", i, got, step.code, h.stderr.String())
		}
		status := oid(t, "", append([]string{"lock", "--status", "job"}, where[:2]...)...).out
		want := []string{"a failed with exit code 143 on ", "", "a failed with exit code 3 on ", ", attempt 2, ", ", attempt 3, "}[i]
		if !strings.Contains(status, want) {
			t.Errorf("after call %d: %s, want %q", i, status, want)
		}
	}
}

// Missed ticks are run in order, and the exit code is that of the last that failed. A
// signal that ends a command ends the call, and a tick that the record has forgotten is
// too late.
func TestLockOnceRunsMissedTicks(t *testing.T) {
	dir := t.TempDir()
	call := func(name, schedule, catchUp, script string) (ticks []string, code int) {
		h := startLock(t, nil, name, "--locks", "file:"+dir, "--tz", "UTC", "--once", schedule, "--catch-up", catchUp, "--", "sh", "-c", "echo $OID_LOCK_TICK; "+script)
		for h.lines.Scan() {
			ticks = append(ticks, h.lines.Text())
		}
		return ticks, h.code()
	}
	for name, test := range map[string]struct {
		catchUp, script string
		ticks, code     int
	}{
		"one":    {"0", "exit 0", 1, 0},
		"failed": {"2", "[ -e " + dir + "/failed ] || { >" + dir + "/failed; exit 3; }", 3, 3},
		"signal": {"2", "kill $$", 1, 128 + 15},
		"many":   {"16", "exit 0", 17, 0},
	} {
		call(name, yearly(), "0", "exit 0")
		ticks, code := call(name, weekly(), test.catchUp, test.script)
		if len(ticks) != test.ticks || code != test.code || !slices.IsSorted(ticks) {
			t.Errorf("%s: ticks %v, exit code %d; want %d in order, and %d", name, ticks, code, test.ticks, test.code)
		}
	}
	if ticks, code := call("many", yearly(), "0", "exit 0"); len(ticks) > 0 || code != exitNotLocked {
		t.Errorf("a tick that the record has forgotten: %v, exit code %d, want %d", ticks, code, exitNotLocked)
	}
}

// The fields of a schedule are in its own zone, that of --tz or that of the host.
func TestLockOnceZone(t *testing.T) {
	for _, test := range []struct{ prefix, flag, host, want string }{
		{"", "", "Asia/Kathmandu", "T18:15:00Z"},
		{"", "Asia/Kathmandu", "Asia/Tokyo", "T18:15:00Z"},
		{"CRON_TZ=Asia/Kathmandu ", "Asia/Tokyo", "UTC", "T18:15:00Z"},
		{"TZ=Asia/Kathmandu ", "Asia/Tokyo", "UTC", "T18:15:00Z"},
	} {
		args := []string{"job", "--once", test.prefix + weekly()}
		if test.flag != "" {
			args = append(args, "--tz", test.flag)
		}
		h := startLock(t, []string{"TZ=" + test.host}, append(args, "--", "sh", "-c", "echo $OID_LOCK_TICK")...)
		if got := h.line(); !strings.HasSuffix(got, test.want) || h.code() != 0 {
			t.Errorf("%+v: tick %s", test, got)
		}
	}
}

// --wait is a limit for a tick too: another tick has the lock.
func TestLockOnceWaitsNoLonger(t *testing.T) {
	where := []string{"--locks", "file:" + t.TempDir()}
	startLock(t, nil, append([]string{"job", "--once", "key=a"}, append(where, "--", "sh", "-c", "echo held; exec sleep 1000")...)...).line()
	for _, wait := range []string{"0", "100ms"} {
		h := startLock(t, nil, append([]string{"job", "--once", "key=b", "--wait", wait}, append(where, "--", "true")...)...)
		if code := h.code(); code != exitNotLocked || !strings.Contains(h.stderr.String(), "held by another") {
			t.Errorf("--wait %s: exit code %d, want %d; said %s", wait, code, exitNotLocked, h.stderr.String())
		}
	}
	ended, end := context.WithTimeout(t.Context(), 0)
	defer end()
	for _, test := range []struct {
		o    lockOptions
		ctx  context.Context
		want time.Duration
	}{
		{lockOptions{}, t.Context(), 0},
		{lockOptions{limited: true}, ended, -1},
		{lockOptions{limited: true, wait: 1}, ended, time.Millisecond},
	} {
		if got := test.o.waitLeft(test.ctx); got != test.want {
			t.Errorf("%+v: %v are left, want %v", test.o, got, test.want)
		}
	}
}
