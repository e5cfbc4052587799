package registry

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/oidkit/oid/objectid"
)

// Deploy says how a version of a service came to run. It is concluded from the recorded
// processes of the service, by these rules:
//
//   - A service is a name, with the labels service.namespace and deployment.environment.name
//     (until 2024 deployment.environment). A version is [Process].Version, with the label
//     vcs.ref.head.revision. All of these are what processes say of themselves. A process
//     without a name takes no part, and neither does one with neither version nor revision.
//   - A process ran from [Process].From until [Status].Until.
//   - A version is deployed when a process of it starts, except in the next three cases.
//   - The version ran less than a minute ago: that is a restart, or another process of a rolling
//     update. The minute also covers the differences between the clocks of hosts.
//   - No other version ran after it: it is started again, such as after a night.
//   - It was deployed last, and ran less than an hour ago: that is a crash loop.
//
// So the first host, or region, that gets a version counts for all, and a canary that runs
// beside the older version for days is one deploy. If only one process of the older version
// runs beside it, and is away for more than a minute, its return is taken for a deploy: the
// records of a rollback are the same.
type Deploy struct {
	// Name, Namespace and Environment identify the service. Version and Revision are those
	// of the process that started at Time.
	Name, Namespace, Environment, Version, Revision string
	// Kind is one of [NewVersion], [EarlierVersion], [FirstVersion] and [OlderVersion].
	Kind string
	// Time is when the first process of the version started, by the clock of its host. It is
	// zero if Kind is OlderVersion.
	Time time.Time
	// Since is the time from which all processes are known. Earlier records were deleted by
	// [Registry.Prune] or not read. It is zero if there are none.
	Since time.Time
}

// Kinds of a [Deploy]. Only the first two are deploys.
const (
	// NewVersion: no process of the version was recorded before, but processes of others.
	NewVersion = "new-version"
	// EarlierVersion: the version ran before, and others since, as after a rollback.
	EarlierVersion = "earlier-version"
	// FirstVersion: no process of the service was recorded before.
	FirstVersion = "first-version"
	// OlderVersion: the version ran at Since or before. When it was deployed cannot be told.
	OlderVersion = "older-version"
)

const (
	restarting = time.Minute // see Deploy
	crashing   = time.Hour   // likewise
)

// versionOf returns the service and the version of p, and nothing else.
func versionOf(p *Process) Deploy {
	return Deploy{
		Name: p.Name, Namespace: p.Labels["service.namespace"], Environment: cmp.Or(p.Labels["deployment.environment.name"], p.Labels["deployment.environment"]),
		Version: p.Version, Revision: p.Labels["vcs.ref.head.revision"],
	}
}

func (d Deploy) version() Deploy {
	d.Kind, d.Time, d.Since = "", time.Time{}, time.Time{}
	return d
}

func (d Deploy) service() Deploy {
	return Deploy{Name: d.Name, Namespace: d.Namespace, Environment: d.Environment}
}

// run is one process of a version, which started at Time.
type run struct {
	Deploy
	until time.Time
}

// deploysOf concludes from all processes that ran after a time, and perhaps from others. It
// returns the deploys of each service in order of time, including first and older versions.
func deploysOf(runs []run, since time.Time) (out []Deploy) {
	slices.SortFunc(runs, func(a, b run) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Environment, b.Environment),
			a.Time.Compare(b.Time), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Revision, b.Revision))
	})
	var last Deploy
	var ends map[Deploy]time.Time // until when each version of the service ran
	for _, r := range runs {
		first := last.service() != r.service()
		if first {
			last, ends = Deploy{}, map[Deploy]time.Time{}
		}
		ran, seen := ends[r.version()]
		atOnce, allowed := true, restarting // atOnce: no other version ran since
		for version, end := range ends {
			atOnce = atOnce && (version == r.version() || !end.After(ran))
		}
		if last.version() == r.version() || last.Kind == OlderVersion {
			allowed = crashing
		}
		ends[r.version()] = maxTime(ran, r.until)
		d := r.Deploy
		d.Kind, d.Since = NewVersion, since
		switch {
		case seen && (atOnce || d.Time.Sub(ran) <= allowed):
			continue
		case !d.Time.After(since):
			d.Kind, d.Time = OlderVersion, time.Time{}
		case seen:
			d.Kind = EarlierVersion
		case first:
			d.Kind = FirstVersion
		}
		last = d
		out = append(out, d)
	}
	return out
}

// deploys reads the living processes, and then those that ended, the latest first.
func (r *Registry) deploys(ctx context.Context) ([]Deploy, error) {
	m, err := r.readMarks(ctx)
	if err != nil {
		return nil, err
	}
	var runs []run
	began, since, read := time.Now(), m.Records, 0
	for s, err := range r.All(ctx, Query{States: States(), unrivalled: true}) {
		if err != nil {
			return nil, err
		}
		if read++; read > r.maxRead || time.Since(began) > time.Second {
			since = s.Last.Time
			if !s.moved { // any of the living processes may be missing
				since = wall(r.options.Now)
			}
			break
		}
		d := versionOf(&s.Process)
		if d.Time = s.From; d.Name != "" && d.Version+d.Revision != "" {
			runs = append(runs, run{d, s.Until})
		}
	}
	if !since.IsZero() {
		since = since.Add(crashing) // until then, a version that had crashed may have started again
	}
	return deploysOf(runs, since), nil
}

// Deploys returns how and when the versions of services were deployed, by service and in order
// of time: of those services whose processes created the ids. Processes without a version are
// left out. The call may read 20,000 records, for about a second. The Tracer remembers what it
// has read for 50 times as long as that took, and at least for a second.
func (t *Tracer) Deploys(ctx context.Context, ids ...objectid.ID) (out []Deploy, err error) {
	services := map[Deploy]bool{}
	for _, id := range ids {
		found, err := t.Trace(ctx, id)
		if err != nil {
			return nil, err
		}
		if found.Verdict == Known || found.Verdict == Claimed {
			if d := versionOf(&found.Processes[0].Process); d.Version+d.Revision != "" {
				services[d.service()] = true
			}
		}
	}
	if len(services) == 0 {
		return nil, nil
	}
	t.reading.Lock()
	defer t.reading.Unlock()
	if began := time.Now(); began.After(t.deploysUntil) {
		if t.deploys, err = t.registry.deploys(ctx); err != nil {
			return nil, err
		}
		t.deploysUntil = time.Now().Add(max(tracerAge, 50*time.Since(began)))
	}
	for _, d := range t.deploys {
		if services[d.service()] {
			out = append(out, d)
		}
	}
	return out, nil
}

// AddDeploy sets found.Deploy: how the version of the process that created the id was deployed
// before the process started. The costs are those of Deploys.
func (t *Tracer) AddDeploy(ctx context.Context, found *Trace) error {
	deploys, err := t.Deploys(ctx, found.ID)
	for _, p := range found.Processes {
		found.Deploy = p.deployIn(deploys)
	}
	return err
}

// deployIn returns the last deploy of the version of p before p started, or nil.
func (p *Process) deployIn(deploys []Deploy) (last *Deploy) {
	for _, d := range deploys {
		if d.version() == versionOf(p) && !d.Time.After(p.From) {
			last = &d
		}
	}
	return last
}
