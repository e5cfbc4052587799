package registry_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store/memstore"
)

// deploying has a registry in a bubble, in which hours pass at once.
type deploying struct {
	*testing.T
	*registry.Registry
	store *memstore.Store
	pid   int
}

// inHours runs a test in a bubble.
func inHours(t *testing.T, test func(d *deploying)) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		test(&deploying{t, registry.New(s, nil), s, 0})
	})
}

// start records a process of a version of shop, and its labels.
func (d *deploying) start(version string, labels ...string) registry.Process {
	d.Helper()
	d.pid++
	of := map[string]string{}
	for _, l := range labels {
		name, value, _ := strings.Cut(l, "=")
		of[name] = value
	}
	p, err := d.RegisterRemote(d.Context(), remote(d, d.pid), &registry.RemoteOptions{Name: "shop", Version: version, Labels: of, Clock: time.Now()})
	if err != nil {
		d.Fatal(err)
	}
	return p
}

func (d *deploying) end(p registry.Process) {
	d.Helper()
	if _, err := d.End(d.Context(), p.Key(), "ended", 0); err != nil {
		d.Fatal(err)
	}
}

// of traces an id that p creates now, as another program would.
func (d *deploying) of(p registry.Process) *registry.Deploy {
	d.Helper()
	return d.ofID(idOf(d, p.Block))
}

func (d *deploying) ofID(id objectid.ID) *registry.Deploy {
	d.Helper()
	tracer := registry.NewTracer(registry.New(d.store, nil))
	found, err := tracer.Trace(d.Context(), id)
	if err == nil {
		found.Deploy, err = tracer.Deploy(d.Context(), &found)
	}
	if err != nil {
		d.Fatal(err)
	}
	return found.Deploy
}

// What a deploy may be.
const (
	newVersion   = "new"
	earlier      = "again"
	firstVersion = "first"
	untold       = "cannot be told"
)

func kindOf(d *registry.Deploy) string {
	switch {
	case d == nil:
		return "none"
	case d.Time.IsZero():
		return untold
	case d.First:
		return firstVersion
	case d.Again:
		return earlier
	}
	return newVersion
}

// want checks the kind and the age of the deploy of p.
func (d *deploying) want(p registry.Process, kind string, age time.Duration) {
	d.Helper()
	got := d.of(p)
	if kindOf(got) != kind || !strings.Contains(got.Service, "shop") || got.Version != p.Version || kind != untold && time.Since(got.Time).Round(time.Second) != age {
		d.Errorf("%s: %+v, want %s %v ago", p.Version, got, kind, age)
	}
}

func TestDeployOfAnID(t *testing.T) {
	inHours(t, func(d *deploying) {
		old := d.start("1.4.1")
		d.want(old, firstVersion, 0)
		other := d.start("7", "service.namespace=other")
		time.Sleep(24 * time.Hour)
		first := d.start("1.4.2")
		time.Sleep(time.Minute)
		second := d.start("1.4.2")
		d.end(old)
		time.Sleep(11 * time.Minute)
		d.want(second, newVersion, 12*time.Minute)
		d.want(first, newVersion, 12*time.Minute)
		d.want(other, firstVersion, 24*time.Hour+12*time.Minute)
		back := d.start("1.4.1")
		d.end(first)
		d.end(second)
		time.Sleep(time.Hour)
		d.want(back, earlier, time.Hour)
		if got := d.ofID(before(idOf(d, old.Block), 2*time.Hour)); kindOf(got) != firstVersion {
			d.Errorf("an id from before the version was deployed again has %+v", got)
		}
		if got := d.ofID(before(idOf(d, first.Block), 80*time.Minute)); got != nil {
			d.Errorf("an id from before its process has %+v", got)
		}
		if got := d.of(d.start("")); got != nil {
			d.Errorf("a process without a version has %+v", got)
		}
		if got := d.ofID(stray()); got != nil {
			d.Errorf("an id of nobody has %+v", got)
		}
	})
}

// What Prune may have deleted, or what was not read, makes a deploy one that cannot be told.
func TestDeploysWithoutEarlierRecords(t *testing.T) {
	inHours(t, func(d *deploying) {
		old := d.start("1")
		time.Sleep(48 * time.Hour)
		d.end(old)
		now := d.start("2")
		time.Sleep(time.Hour)
		d.want(now, newVersion, time.Hour)
		prune := func(keep time.Duration) time.Time {
			if _, err := d.Heartbeat(d.Context(), &registry.RemoteHeartbeat{Member: now.Key(), Load: registry.Load{}, Clock: time.Now()}); err != nil {
				d.Fatal(err)
			}
			if _, err := d.Prune(d.Context(), &registry.PruneOptions{Records: keep}); err != nil {
				d.Fatal(err)
			}
			return time.Now().Add(time.Hour - keep)
		}
		since := prune(3 * time.Hour)
		if got := d.of(now); kindOf(got) != newVersion || !got.Since.Equal(since) {
			d.Errorf("%+v, want since %v", got, since)
		}
		since = prune(30 * time.Minute)
		if got := d.of(now); kindOf(got) != untold || !got.Since.Equal(since) {
			d.Errorf("%+v, want since %v", got, since)
		}
		prune(5 * time.Hour) // more was deleted before
		if got := d.of(now); kindOf(got) != untold || !got.Since.Equal(since) {
			d.Errorf("%+v, want since %v", got, since)
		}
		time.Sleep(2 * time.Hour)
		d.want(d.start("3"), newVersion, 0)
	})
	inHours(t, func(d *deploying) {
		var ended []registry.Process
		for range 40 {
			ended = append(ended, d.start("1"))
			time.Sleep(10 * time.Minute)
			d.end(ended[len(ended)-1])
		}
		last, running := d.start("2"), d.start("2")
		time.Sleep(time.Minute)
		d.end(last)
		for most, want := range map[int]string{1: untold, 5: untold, 30: newVersion, 100: newVersion} {
			tracer := registry.NewTracer(d.Registry)
			d.SetMaxRead(most)
			all, err := tracer.Deploys(d.Context(), idOf(d, running.Block))
			i := slices.IndexFunc(all, func(x registry.Deploy) bool { return x.Version == "2" })
			if err != nil || i < 0 || kindOf(&all[i]) != want || all[i].Since.IsZero() != (most == 100) {
				d.Errorf("with %d records: %+v, %v; want %s", most, all, err, want)
			}
		}
	})
}

// If not all living processes were read, any of them may have run the version before.
func TestDeploysOfTooManyLivingProcesses(t *testing.T) {
	inHours(t, func(d *deploying) {
		for range 8 {
			d.start("2") // not one of these may be taken for the first
			time.Sleep(4 * time.Hour)
		}
		last := d.start("2")
		for most := 1; most < 8; most++ { // in the order of their blocks, which is random
			d.SetMaxRead(most)
			all, err := registry.NewTracer(d.Registry).Deploys(d.Context(), idOf(d, last.Block))
			if err != nil || len(all) == 0 || slices.ContainsFunc(all, func(x registry.Deploy) bool { return !x.Time.IsZero() }) {
				d.Errorf("%d processes: %+v, %v", most, all, err)
			}
		}
	})
}

// The deploys of all services are read once, and remembered for a while.
func TestDeploysAreRemembered(t *testing.T) {
	inHours(t, func(d *deploying) {
		shop := d.start("1", "service.namespace=shop")
		other := d.start("1", "service.namespace=other")
		tracer := registry.NewTracer(d.Registry)
		count := func() (n int) {
			for _, p := range []registry.Process{shop, other} {
				all, err := tracer.Deploys(d.Context(), idOf(d, p.Block))
				if err != nil || slices.ContainsFunc(all, func(x registry.Deploy) bool { return x.Service != p.Labels["service.namespace"]+"/shop" }) {
					d.Errorf("%+v, %v", all, err)
				}
				n += len(all)
			}
			return n
		}
		if n := count(); n != 2 {
			d.Errorf("%d deploys", n)
		}
		time.Sleep(time.Minute)
		d.start("2", "service.namespace=shop")
		if n := count(); n != 3 {
			d.Errorf("%d deploys after a minute", n)
		}
		d.start("3", "service.namespace=shop")
		time.Sleep(time.Second / 2)
		if n := count(); n != 3 {
			d.Errorf("%d deploys at once", n)
		}
	})
}
