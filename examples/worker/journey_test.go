//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/server/wire"
)

// asWorker is the first argument of this test program when it is the worker.
const asWorker = "as-worker"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asWorker {
		os.Args = append(os.Args[:1], os.Args[2:]...)
		main()
		return
	}
	os.Exit(m.Run())
}

// browser is a tab that looks at the page of a server.
type browser struct {
	t   *testing.T
	ctx context.Context
}

// shows opens a page and waits until its text has all parts, in any case.
func (b *browser) shows(url string, parts ...string) {
	b.t.Helper()
	testenv.Await(b.t, url, func() error {
		ctx, stop := context.WithTimeout(b.ctx, 20*time.Second)
		defer stop()
		if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
			return err
		}
		text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector("main").innerText`))
		for _, part := range parts {
			if err == nil && !strings.Contains(strings.ToLower(text), part) {
				err = fmt.Errorf("the page lacks %q: %s", part, text)
			}
		}
		return err
	})
}

// A worker from its first second to its death, as the page shows it: its load beside its
// first id and in the plots; a network that is away, in which ids come without a pause; its
// heartbeats after that; and its end.
func TestJourney(t *testing.T) {
	t.Parallel()
	journey(t, 4*time.Second)
}

func TestLongJourney(t *testing.T) {
	testenv.WithoutRace(t)
	if !testenv.Whole() {
		t.Skip("TestJourney is the same with a shorter outage")
	}
	journey(t, 30*time.Second)
}

func journey(t *testing.T, outage time.Duration) {
	c := serve(t)
	page := c.URL
	cable := testenv.NewCable(t, strings.TrimPrefix(page, "http://"))
	b := &browser{t, testenv.Chromium(t)}
	const every = 100 * time.Millisecond
	worker := testenv.Start(t, os.Args[0], asWorker, "-server", "http://"+cable.Addr, "-every", every.String())
	gpid := worker.Line(t, func(line string) (string, bool) {
		_, gpid, ok := strings.Cut(line, "worker is ")
		return gpid, ok
	})
	next := func() objectid.ID {
		var id objectid.ID
		worker.Line(t, func(line string) (string, bool) {
			var err error
			id, err = objectid.Parse(line)
			return "", err == nil
		})
		return id
	}
	first := next()
	testenv.Await(t, "a heartbeat with the load, and an id of then", func() error {
		h, err := testenv.Get[wire.History](t.Context(), c.HTTP, c.URL+"/v1/processes/"+gpid+"?since=1h")
		for _, s := range h.Samples {
			for s.MemoryBytes != nil && first.Time().Before(s.Time.Truncate(time.Second)) {
				first = next() // the first heartbeat took until another second
			}
			if s.MemoryBytes != nil {
				return nil
			}
		}
		return errors.Join(err, errors.New("there is none"))
	})
	b.shows(page+"/?id="+first.String(), "worker", gpid, "at that time", "memory", "mib", "threads", "goroutines")
	process := page + "/processes/" + gpid
	b.shows(process, "alive", "processors", "memory", "files", "threads", "goroutines", "heap")

	cable.Swallow(true)
	for began, last := time.Now(), first; time.Since(began) < outage; {
		id := next()
		if pause := id.Time().Sub(last.Time()); pause > 2*time.Second || id.Compare(last) <= 0 {
			t.Fatalf("%v comes %v after %v", id, pause, last)
		}
		last = id
	}
	b.shows(process, "dead", "presumed")
	cable.Swallow(false)
	b.shows(process, "alive")
	b.shows(page+"/?id="+next().String(), gpid, "at that time", "memory")

	pid, err := strconv.Atoi(gpid[strings.LastIndexByte(gpid, ':')+1:])
	if err != nil {
		t.Fatal(err)
	}
	last := next()
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	b.shows(process, "ended", "no more jobs")
	b.shows(page+"/?id="+last.String(), gpid, "at that time", "memory")
	if n := strings.Count(worker.Output(), "client:"); n != 2 {
		t.Errorf("the worker wrote %d warnings, want one of the outage and one of its end:\n%s", n, worker.Output())
	}
}
