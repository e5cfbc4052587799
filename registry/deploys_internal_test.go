package registry

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// fleet simulates the replicas of one service: it starts and stops processes as an orchestrator
// does, and knows when the version was really changed.
type fleet struct {
	rand    *rand.Rand
	service string
	offsets []time.Duration // of the clocks of the nodes
	now     time.Time
	running []*replica
	runs    []Deploy
	true    []Deploy // the deploys that were made
	seen    map[string]bool
}

type replica struct {
	version string
	node    int
	started time.Time
}

func newFleet(seed uint64, name string, offset time.Duration) *fleet {
	f := &fleet{rand: rand.New(rand.NewPCG(seed, 47)), service: name, now: time.UnixMilli(1795285085000).UTC(), seen: map[string]bool{}}
	for range 5 {
		f.offsets = append(f.offsets, time.Duration((f.rand.Float64()*2-1)*float64(offset)).Truncate(time.Millisecond))
	}
	return f
}

// between passes a random time.
func (f *fleet) between(least, most time.Duration) {
	f.now = f.now.Add(least + time.Duration(f.rand.Int64N(int64(most-least)+1)).Truncate(time.Millisecond))
}

func (f *fleet) start(version string) *replica {
	r := &replica{version, f.rand.IntN(len(f.offsets)), f.now}
	f.running = append(f.running, r)
	return r
}

// stop ends a replica. If it is killed, no end is recorded: the record ends three intervals
// after a heartbeat that came up to an interval before.
func (f *fleet) stop(r *replica, killed bool) {
	f.running = slices.DeleteFunc(f.running, func(o *replica) bool { return o == r })
	end := f.now
	if killed {
		end = end.Add(3*defaultInterval - time.Duration(f.rand.Int64N(int64(defaultInterval))))
	}
	offset := f.offsets[r.node]
	f.runs = append(f.runs, Deploy{Service: f.service, Version: r.version, Time: r.started.Add(offset), until: end.Add(offset)})
}

func (f *fleet) of(version string) (out []*replica) {
	for _, r := range f.running {
		if r.version == version {
			out = append(out, r)
		}
	}
	return out
}

// deployed notes a true deploy that begins now.
func (f *fleet) deployed(version string) {
	d := Deploy{Service: f.service, Version: version, Time: f.now, First: len(f.seen) == 0, Again: f.seen[version]}
	f.seen[version] = true
	f.true = append(f.true, d)
}

// roll replaces all replicas by others of a version, one by one. Old replicas may be restarted
// meanwhile, and new ones may crash.
func (f *fleet) roll(version string, replicas int) {
	f.deployed(version)
	for i := range replicas {
		r := f.start(version)
		for f.rand.IntN(4) == 0 { // it crashes at first
			f.between(200*time.Millisecond, 20*time.Second)
			f.stop(r, f.rand.IntN(2) == 0)
			f.between(time.Second, 5*time.Minute)
			r = f.start(version)
		}
		f.between(2*time.Second, 30*time.Second)
		old := slices.DeleteFunc(slices.Clone(f.running), func(r *replica) bool { return r.version == version })
		if len(old) > 1 && f.rand.IntN(3) == 0 { // an old one moves to another node
			f.stop(old[1], false)
			f.between(0, 5*time.Second)
			f.start(old[1].version)
		}
		for _, r := range old {
			if i == replicas-1 || r == old[0] {
				f.stop(r, f.rand.IntN(8) == 0)
			}
		}
		f.between(0, 10*time.Second)
	}
}

// recreate stops all replicas, and then starts those of a version.
func (f *fleet) recreate(version string, replicas int) {
	for _, r := range slices.Clone(f.running) {
		f.stop(r, false)
	}
	f.between(0, 40*time.Second)
	f.deployed(version)
	for range replicas {
		f.start(version)
		f.between(0, time.Second)
	}
}

// restart stops a replica, and starts its version again.
func (f *fleet) restart(r *replica, least, most time.Duration) {
	f.stop(r, f.rand.IntN(2) == 0)
	f.between(least, most)
	f.start(r.version)
}

func (f *fleet) end() {
	for _, r := range slices.Clone(f.running) {
		f.stop(r, false)
	}
}

// weeks lets an operator do what operators do.
func (f *fleet) weeks(n int) {
	replicas, version, build := 1+f.rand.IntN(6), "1.0.0", 0
	before := version
	f.recreate(version, replicas)
	for range n {
		f.between(time.Hour, 48*time.Hour)
		switch f.rand.IntN(8) {
		case 0, 1:
			build++
			before, version = version, fmt.Sprintf("1.%d.0", build)
			f.roll(version, replicas)
		case 2:
			build++
			before, version = version, fmt.Sprintf("1.%d.0", build)
			f.recreate(version, replicas)
		case 3: // a bad version, and back after some minutes
			build++
			bad := fmt.Sprintf("1.%d.0", build)
			f.roll(bad, replicas)
			f.between(90*time.Second+2*f.most(), 20*time.Minute)
			f.roll(version, replicas)
		case 4: // back to the version before
			before, version = version, before
			if version != before {
				f.roll(version, replicas)
			}
		case 5: // a crash loop of all replicas, with the waits of Kubernetes
			wait := 10 * time.Second
			for range 3 + f.rand.IntN(20) {
				f.restart(f.running[f.rand.IntN(len(f.running))], wait, wait+2*time.Second)
				f.between(500*time.Millisecond, 10*time.Second)
				wait = min(2*wait, 5*time.Minute)
			}
		case 6: // a canary for days, which crashes and is restarted; so do the others, if there are several
			build++
			canary := fmt.Sprintf("1.%d.0", build)
			f.deployed(canary)
			f.start(canary)
			for range 2 + f.rand.IntN(8) {
				f.between(time.Minute, 8*time.Hour)
				f.restart(f.of(canary)[0], time.Second, 5*time.Minute)
				f.between(time.Minute, 8*time.Hour)
				if old := f.of(version); len(old) > 1 {
					f.restart(old[0], time.Second, 5*time.Minute)
				} else {
					f.restart(old[0], 0, 25*time.Second)
				}
			}
			f.stop(f.of(canary)[0], false)
		case 7: // the service stops for the night
			all := slices.Clone(f.running)
			for _, r := range all {
				f.stop(r, f.rand.IntN(2) == 0)
			}
			f.between(time.Hour, 9*time.Hour)
			for range all {
				f.start(version)
			}
		}
	}
	f.end()
}

func (f *fleet) most() time.Duration {
	return slices.MaxFunc(f.offsets, func(a, b time.Duration) int { return cmp.Compare(a.Abs(), b.Abs()) }).Abs()
}

// compare counts the deploys that were found but not made, and those that were made but not found.
func (f *fleet) compare(found []Deploy) (wrong, missed []Deploy) {
	left := slices.Clone(f.true)
	for _, d := range found {
		i := slices.IndexFunc(left, func(o Deploy) bool {
			return o.Version == d.Version && o.First == d.First && o.Again == d.Again && o.Time.Sub(d.Time).Abs() <= f.most()
		})
		if i < 0 {
			wrong = append(wrong, d)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	return wrong, left
}

// No deploy is invented and none is missed, if clocks differ by less than half a minute.
func TestDeploysOfFleets(t *testing.T) {
	for _, offset := range []time.Duration{0, 15 * time.Second} {
		wrong, missed, all := 0, 0, 0
		for seed := range uint64(300) {
			f := newFleet(seed, "shop", offset)
			f.weeks(40)
			w, m := f.compare(deploysOf(slices.Clone(f.runs), time.Time{}))
			if len(w)+len(m) > 0 && wrong+missed < 5 {
				t.Logf("seed %d: wrong %+v\nmissed %+v", seed, w, m)
			}
			wrong, missed, all = wrong+len(w), missed+len(m), all+len(f.true)
		}
		if wrong+missed > 0 || all < 10_000 {
			t.Errorf("clocks off by up to %v: of %d deploys %d were missed, and %d were found that were not made", offset, all, missed, wrong)
		}
	}
}

// lastOf returns the last of deploys that is of the version of a run, up to its start.
func lastOf(deploys []Deploy, of Deploy) (last *Deploy) {
	for _, d := range deploys {
		if d.Service == of.Service && d.Version == of.Version && !d.Time.After(of.Time) {
			last = &d
		}
	}
	return last
}

// If earlier records are missing, each answer is the one of all records, or that it cannot be
// told.
func TestDeploysOfAPartOfTheRecords(t *testing.T) {
	told, untold := 0, 0
	for seed := range uint64(100) {
		f := newFleet(seed, "shop", 0)
		f.weeks(30)
		all := deploysOf(slices.Clone(f.runs), time.Time{})
		cut := f.runs[len(f.runs)*int(1+seed%9)/10].until
		kept := slices.DeleteFunc(slices.Clone(f.runs), func(r Deploy) bool { return r.until.Before(cut) })
		part := deploysOf(slices.Clone(kept), cut.Add(time.Hour))
		for _, r := range kept {
			want, got := lastOf(all, r), lastOf(part, r)
			switch {
			case got == nil:
				t.Fatalf("seed %d: nothing about %+v", seed, r)
			case got.Time.IsZero() && !want.Time.After(cut.Add(time.Hour)):
				untold++
			case !got.Time.Equal(want.Time) || got.First || got.Again && !want.Again || got.Since.IsZero():
				t.Fatalf("seed %d: records since %v say %+v; all say %+v", seed, cut, got, want)
			default:
				told++
			}
		}
	}
	if told < 1000 || untold < 100 {
		t.Errorf("%d answers, %d that it cannot be told", told, untold)
	}
}

// A service is a name in a namespace and an environment; a version has a revision.
func TestServicesOfDeploys(t *testing.T) {
	at := time.UnixMilli(1795285085000).UTC()
	started := func(minute int, version string, labels ...string) Process {
		from := at.Add(time.Duration(minute) * time.Minute)
		p := Process{Name: "shop", Version: version, From: from, Labels: map[string]string{}}
		for i := 0; i < len(labels); i += 2 {
			p.Labels[labels[i]] = labels[i+1]
		}
		return p
	}
	const firstVersion, newVersion, again = "first", "new", "again"
	const namespace, environment, revision = "service.namespace", "deployment.environment.name", "vcs.ref.head.revision"
	for _, c := range []struct {
		name string
		all  []Process
		want []string // the kinds of the processes, in order
	}{
		{"versions", []Process{started(0, "1"), started(1, "2"), started(2, "1")}, []string{firstVersion, newVersion, firstVersion}},
		{"namespaces", []Process{started(0, "1", namespace, "eu"), started(1, "2", namespace, "us")}, []string{firstVersion, firstVersion}},
		{"environments", []Process{started(0, "1"), started(1, "2", environment, "test")}, []string{firstVersion, firstVersion}},
		{"revisions", []Process{started(0, "1", revision, "a1"), started(1, "1", revision, "b2")}, []string{firstVersion, newVersion}},
		{"revisions alone", []Process{started(0, "", revision, "a1"), started(1, "", revision, "b2")}, []string{firstVersion, newVersion}},
		{"other labels", []Process{started(0, "1", "team", "a"), started(1, "1", "team", "b")}, []string{firstVersion, firstVersion}},
		{"at the same time", []Process{started(0, "1"), started(0, "2"), started(0, "1")}, []string{firstVersion, newVersion, firstVersion}},
		{"back after two hours", []Process{started(0, "1"), started(50, "2"), started(180, "1")}, []string{firstVersion, newVersion, again}},
		{"a job every day", []Process{started(0, "1"), started(1440, "1"), started(2880, "1")}, []string{firstVersion, firstVersion, firstVersion}},
	} {
		var runs []Deploy
		for _, p := range c.all {
			service, version := versionOf(&p)
			runs = append(runs, Deploy{Service: service, Version: version, Time: p.From, until: p.From.Add(time.Hour)})
		}
		all := deploysOf(runs, time.Time{})
		for i := range c.all {
			service, version := versionOf(&c.all[i])
			got := newVersion
			if d := lastOf(all, Deploy{Service: service, Version: version, Time: c.all[i].From}); d.First {
				got = firstVersion
			} else if d.Again {
				got = again
			}
			if got != c.want[i] {
				t.Errorf("%s: process %d is of %q, want %q", c.name, i, got, c.want[i])
			}
		}
	}
}

// The only process of the older version is away for more than a minute while a canary runs: its
// return looks like a rollback, and is counted.
func TestReturnBesideACanary(t *testing.T) {
	at := time.UnixMilli(1795285085000).UTC()
	one := func(version string, from, until time.Duration) Deploy {
		return Deploy{Service: "shop", Version: version, Time: at.Add(from), until: at.Add(until)}
	}
	for away, want := range map[time.Duration]int{time.Minute: 2, time.Minute + time.Second: 3} {
		got := deploysOf([]Deploy{one("1", 0, 2*time.Hour), one("2", time.Hour, 9*time.Hour), one("1", 2*time.Hour+away, 9*time.Hour)}, time.Time{})
		if len(got) != want {
			t.Errorf("away for %v: %+v, want %d", away, got, want)
		}
	}
}
