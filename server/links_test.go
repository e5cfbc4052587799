package server_test

import (
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/store/sqlitestore"
)

// The API answers with what a process says of itself, its instance id and the links of the
// operator, and finds the process by them.
func TestLinksOfTheAPI(t *testing.T) {
	r := serve(t, server.Options{Links: []string{"logs=https://logs.example/?q={service.name}-{k8s.pod.name}&at={time:ms}", "cost=https://cost.example/{cloud.region}", "find=https://find.example/?{id}"}})
	p := decode[wire.Registered](t, r.post(t, "/v1/processes", `{"name":"shop","version":"1.4.2","pid":1,"host":"vm-3","labels":{"k8s.pod.name":"shop-1"}}`), 201)
	other := decode[wire.Registered](t, r.post(t, "/v1/processes", `{"name":"cart","pid":1}`), 201)
	id := fmt.Sprintf("%08x%s00a1b2c3", time.Now().Unix(), p.ProcessBlock)
	got := decode[wire.Inspection](t, r.get(t, "/v1/ids/"+id), 200).Trace
	want := []wire.Link{
		{Name: "logs", URL: fmt.Sprintf("https://logs.example/?q=shop-shop-1&at=%d", got.Time.UnixMilli())},
		{Name: "cost", Problem: "cloud.region is not known"},
		{Name: "find", URL: "https://find.example/?" + id},
	}
	if !reflect.DeepEqual(got.Links, want) {
		t.Errorf("links %+v, want %+v", got.Links, want)
	}
	instance := got.Processes[0].InstanceID
	for query, want := range map[string]string{
		"label=k8s.pod.name=shop-1": p.Member, "label=service.name=shop&label=service.version=1.4.2": p.Member, "label=service.name=cart": other.Member,
		"label=host.name=vm-3": p.Member, "label=service.instance.id=" + instance: p.Member, "q=" + instance: p.Member, "q=service.name%3Dcart": other.Member, "q=k8s.pod.name%3Dshop-1": p.Member,
	} {
		found := decode[wire.Processes](t, r.get(t, "/v1/processes?"+query), 200).Processes
		if len(found) != 1 || found[0].Member != want {
			t.Errorf("%s: %+v, want %s", query, found, want)
		}
	}
	if found := decode[wire.Processes](t, r.get(t, "/v1/processes?label=service.name=vm-3"), 200).Processes; len(found) != 0 {
		t.Errorf("no such service: %+v", found)
	}
	unknown := decode[wire.Inspection](t, r.get(t, "/v1/ids/"+objectid.New().String()), 200).Trace
	if l := unknown.Links; len(l) != 3 || l[0].URL != "" || l[0].Problem != "it is not known which process created the id" || l[2].URL == "" {
		t.Errorf("an unknown process: %+v", l)
	}
	if _, err := server.New(&server.Options{Links: []string{"logs=ftp://logs.example/"}}); err == nil || !strings.HasPrefix(err.Error(), `server: link "logs=ftp://logs.example/": want NAME=URL`) {
		t.Errorf("a wrong template: %v", err)
	}
}

// killed records in the store of a file that a pod was killed at a time, after ten minutes with a
// heartbeat every ten seconds, and that an agent saw it end.
func killed(t *testing.T, file string, at time.Time) registry.Process {
	t.Helper()
	s, err := sqlitestore.Open(t.Context(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := at.Add(-10 * time.Minute)
	r := registry.New(s, &registry.Options{Now: func() time.Time { return now }})
	g, err := gpid.New(netip.MustParseAddrPort("10.0.0.7:8080"), now.Add(-time.Hour), 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.RegisterRemote(t.Context(), g, &registry.RemoteOptions{Name: "shop", Version: "1.4.2", Host: "node-3", Clock: now, Labels: map[string]string{
		"k8s.deployment.name": "shop", "k8s.pod.name": "shop-7d4b9cf6d5-x2xkp", "k8s.namespace.name": "prod", "k8s.node.name": "node-3",
		"deployment.environment.name": "production", "vcs.ref.head.revision": "9d59409acf479dfa0df1aa568182e43e43df8bbe",
	}})
	for i := 0; err == nil && now.Before(at); i++ {
		load := registry.Load{CPU: time.Duration(i) * 4 * time.Second, RSS: int64(200+i*i%37) << 20, Heap: registry.Unmeasured, Files: 40, Threads: 8, Goroutines: registry.Unmeasured}
		_, err = r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: p.Key(), Load: load, Clock: now})
		now = now.Add(10 * time.Second)
	}
	now = at
	if err == nil {
		p, err = r.End(t.Context(), p.Key(), "process ended", 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Somebody on call has the page alone, and one id of a pod that was killed the day before. The
// page of the id says, on the first screen of a phone and of a desk, which deployment, version,
// pod and node that was and what its load was, and it leads to the logs of that time (on a phone,
// at most a tenth of a screen below). The pod is found again by its name and by its instance id.
func TestOnCallInTheBrowser(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "oid.db")
	r := serve(t, server.Options{Open: fileStore(file), StoreName: "PostgreSQL", Links: []string{
		"logs=https://grafana.example/explore?pod={k8s.pod.name}&from={from:ms}&to={to:ms}", "traces=https://grafana.example/?i={service.instance.id}",
	}})
	died := time.Now().Add(-24 * time.Hour)
	p := killed(t, file, died)
	at := died.Add(-3 * time.Minute).Truncate(time.Second)
	id := fmt.Sprintf("%08x%s00a1b2c3", at.Unix(), p.Block)
	b := newTab(t, browserOf(t), r.url)
	for _, l := range []look{screens[0], screens[2]} {
		b.as(l)
		b.open("/?id=" + id)
		b.await(`document.querySelector('.id-card .choice')`)
		for _, name := range []string{"Created", "Process", "It says", "Its state", "Load then", "Links"} {
			if got := eval[float64](b, fmt.Sprintf(lowest, name)); got < 0 || got > float64(l.height) && (name != "Links" || got > 1.1*float64(l.height)) {
				t.Errorf("%s: %s ends at %.0f of %d pixels", l.name, name, got, l.height)
			}
		}
		if wide := eval[int](b, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
			t.Errorf("%s: the page is %d pixels wider than the screen", l.name, wide)
		}
		b.screenshot("on-call-" + l.name)
	}
	text := strings.Join(strings.Fields(eval[string](b, `document.querySelector('.says').innerText`)), " ")
	for _, want := range []string{"shop 1.4.2 on node-3", "certain", "1 day ago", "deployment shop", "pod shop-7d4b9cf6d5-x2xkp", "namespace prod", "node node-3", "environment production", "memory 2", "0.4 processors", "ended " + died.UTC().Format("2006-01-02 15:04:05") + " UTC process ended"} {
		if !strings.Contains(text, want) {
			t.Errorf("the card does not say %q: %s", want, text)
		}
	}
	links := eval[[]string](b, `[...document.querySelectorAll('.says a[rel=noreferrer]')].map((a) => a.textContent + ' ' + a.href)`)
	want := []string{
		fmt.Sprintf("logs https://grafana.example/explore?pod=shop-7d4b9cf6d5-x2xkp&from=%d&to=%d", at.Add(-5*time.Minute).UnixMilli(), at.Add(5*time.Minute).UnixMilli()),
		"traces https://grafana.example/?i=" + p.InstanceID(),
	}
	if !slices.Equal(links, want) {
		t.Errorf("the links are %q, want %q", links, want)
	}
	for _, text := range []string{"k8s.pod.name=shop-7d4b9cf6d5-x2xkp", p.InstanceID(), "service.name=shop"} {
		b.open("/processes?q=" + url.QueryEscape(text))
		b.await(`document.querySelector('.list td a')`)
		if got := eval[string](b, `document.querySelector('.list tbody').innerText`); !strings.Contains(got, "shop 1.4.2") {
			t.Errorf("a search for %s finds %q", text, got)
		}
	}
	b.screenshot("on-call-list-360")
	b.do(chromedp.Click(".list td a"))
	b.await(`document.querySelector('.facts')`)
	if got := eval[string](b, `[...document.querySelectorAll('.facts dt')].map((e) => e.innerText).join()`); !strings.HasPrefix(got, "version,environment,deployment,pod,namespace,node,host,") {
		t.Errorf("the facts of the process are %s", got)
	}
	b.open("/processes?q=k8s.pod.nmae%3Dx")
	b.await(`document.querySelector('#result').innerText.includes('NAME=VALUE')`)
}
