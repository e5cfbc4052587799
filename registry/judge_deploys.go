package registry

import (
	"cmp"
	"context"
	"slices"
	"strings"
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
	// Service is namespace/name@environment, and Version the version, a blank and the revision,
	// without what is not known.
	Service, Version string
	// Time is when the first process of the version started, by the clock of its host. It is
	// zero if the version ran at Since or before: then it cannot be told.
	Time time.Time
	// Since is the time from which all processes are known. Earlier records were deleted by
	// [Registry.Prune] or not read. It is zero if there are none.
	Since time.Time
	// First is set if no earlier process of the service is recorded. The first version of a
	// service does not count as a deploy.
	First bool
	// Again is set if the version ran before, and another one since, as after a rollback.
	Again bool

	until time.Time // until when the process that started at Time ran
}

// versionOf returns the service and the version of p. The version is empty if it is not known.
func versionOf(p *Process) (service, version string) {
	l := p.Labels
	service = l["service.namespace"] + "/" + p.Name + "@" + cmp.Or(l["deployment.environment.name"], l["deployment.environment"])
	return strings.Trim(service, "/@"), strings.TrimSpace(p.Version + " " + l["vcs.ref.head.revision"])
}

// deploysOf concludes from runs, which are all processes that ran after a time and perhaps
// others. It returns the deploys by service and in order of time.
func deploysOf(runs []Deploy, since time.Time) (out []Deploy) {
	slices.SortFunc(runs, func(a, b Deploy) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), a.Time.Compare(b.Time), cmp.Compare(a.Version, b.Version))
	})
	var last Deploy
	var ends map[string]time.Time // until when each version of the service ran
	for _, d := range runs {
		if d.First = last.Service != d.Service; d.First {
			ends = map[string]time.Time{}
		}
		ran, seen := ends[d.Version]
		ends[d.Version] = maxTime(ran, d.until)
		others, idle := false, d.Time.Sub(ran) // others: another version ran since
		for version, end := range ends {
			others = others || version != d.Version && end.After(ran)
		}
		deployedLast := !d.First && (last.Version == d.Version || last.Time.IsZero())
		if seen && (!others || idle <= time.Minute || deployedLast && idle <= time.Hour) {
			continue
		}
		if d.Again, d.Since = seen, since; !d.Time.After(since) {
			d.Time = time.Time{}
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
	var runs []Deploy
	began, since, read := time.Now(), m.Records, 0
	for s, err := range r.All(ctx, Query{States: States(), unrivalled: true}) {
		if err != nil {
			return nil, err
		}
		if read++; read > r.maxRead || time.Since(began) > time.Second {
			if since = s.Last.Time; !s.moved { // any of the living processes may be missing
				since = wall(r.options.Now)
			}
			break
		}
		if service, version := versionOf(&s.Process); version != "" {
			runs = append(runs, Deploy{Service: service, Version: version, Time: s.From, until: s.Until})
		}
	}
	if !since.IsZero() {
		since = since.Add(time.Hour) // until then, a version that had crashed may have started again
	}
	return deploysOf(runs, since), nil
}

// Deploys returns the deploys of the services whose processes created the ids, by service and in
// order of time, including first and older versions. It may read 20,000 records, for about a
// second, and remembers them for 50 times as long as that took, and at least for a second.
func (t *Tracer) Deploys(ctx context.Context, ids ...objectid.ID) ([]Deploy, error) {
	services := map[string]bool{}
	for _, id := range ids {
		found, err := t.Trace(ctx, id)
		if err != nil {
			return nil, err
		}
		if found.Verdict == Known || found.Verdict == Claimed {
			if service, version := versionOf(&found.Processes[0].Process); version != "" {
				services[service] = true
			}
		}
	}
	t.reading.Lock()
	defer t.reading.Unlock()
	if began := time.Now(); began.After(t.deploysUntil) && len(services) > 0 {
		var err error
		if t.deploys, err = t.registry.deploys(ctx); err != nil {
			return nil, err
		}
		t.deploysUntil = time.Now().Add(max(tracerAge, 50*time.Since(began)))
	}
	return slices.DeleteFunc(slices.Clone(t.deploys), func(d Deploy) bool { return !services[d.Service] }), nil
}

// Deploy returns how the version of the process that created the id of a trace was deployed
// before the process started. It returns nil if the process or its version is not known, or if
// its version was recorded only a moment ago. For its costs see Deploys.
func (t *Tracer) Deploy(ctx context.Context, of *Trace) (last *Deploy, err error) {
	deploys, err := t.Deploys(ctx, of.ID)
	for _, p := range of.Processes {
		service, version := versionOf(&p.Process)
		for _, d := range deploys {
			if d.Service == service && d.Version == version && !d.Time.After(p.From) {
				last = &d
			}
		}
	}
	return last, err
}
