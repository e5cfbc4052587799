package towire_test

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/wire"
)

var createdAt = time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)

// traced returns a trace of an id of createdAt, whose process has these labels.
func traced(t testing.TB, v registry.Verdict, labels map[string]string) *registry.Trace {
	t.Helper()
	g, err := gpid.New(netip.MustParseAddrPort("[2001:db8::7]:8080"), createdAt.Add(-time.Hour), 17)
	if err != nil {
		t.Fatal(err)
	}
	out := &registry.Trace{ID: objectid.MinAt(createdAt), Verdict: v}
	p := registry.Status{Process: registry.Process{GPID: g, Name: "shop", Version: "1.4.2+b7", Host: "vm-3", Labels: labels}}
	if v != registry.Unknown {
		out.Processes = append(out.Processes, p)
	}
	if v == registry.Collision {
		out.Processes = append(out.Processes, p)
	}
	return out
}

// link makes a link of one template.
func link(t testing.TB, template string, of *registry.Trace) wire.Link {
	t.Helper()
	all, err := towire.ParseLinks([]string{"logs=" + template})
	if err != nil {
		t.Fatal(err)
	}
	return all.Of(of)[0]
}

// A link has the values of the process and of the window around the id, each of them escaped.
func TestLinks(t *testing.T) {
	trace := traced(t, registry.Known, map[string]string{"k8s.pod.name": "shop-7d4b9c-x2x", "team": "Zahlung/é"})
	instance := trace.Processes[0].GPID.InstanceID()
	for template, want := range map[string]string{
		"https://a.example/?q={k8s.pod.name}":                  "https://a.example/?q=shop-7d4b9c-x2x",
		"http://a.example:3000/{service.name}/{team}":          "http://a.example:3000/shop/Zahlung%2F%C3%A9",
		"https://a.example/?v={service.version}&h={host.name}": "https://a.example/?v=1.4.2%2Bb7&h=vm-3",
		"https://a.example/#i={service.instance.id}":           "https://a.example/#i=" + instance,
		"https://a.example/?id={id}&pid={pid}":                 "https://a.example/?id=" + trace.ID.String() + "&pid=17",
		"https://[::1]:80/?g={gpid}":                           "https://[::1]:80/?g=" + url.QueryEscape(trace.Processes[0].GPID.String()),
		"https://a.example/?{from}/{to}":                       "https://a.example/?2026-11-27T09%3A55%3A00Z/2026-11-27T10%3A05%3A00Z",
		"https://a.example/?{time}":                            "https://a.example/?2026-11-27T10%3A00%3A00Z",
		"https://a.example/?{from:s}-{to:ms}-{time:us}":        "https://a.example/?1795773300-1795773900000-1795773600000000",
		"https://a.example/?{time-1h:ns}-{time+1h30m:s}":       "https://a.example/?1795770000000000000-1795779000",
		`https://a.example/?q={a={k8s.pod.name}}&{}`:           "https://a.example/?q=%7Ba=shop-7d4b9c-x2x%7D&%7B%7D",
		`https://a.example/?{"a":"{team}"}`:                    "https://a.example/?%7B%22a%22:%22Zahlung%2F%C3%A9%22%7D",
		"https://a.example":                                    "https://a.example",
	} {
		got := link(t, template, trace)
		if got.URL != want || got.Problem != "" || got.Name != "logs" {
			t.Errorf("%s: %+v, want %s", template, got, want)
		}
		if _, err := url.Parse(got.URL); err != nil {
			t.Errorf("%s: %v", template, err)
		}
	}
}

// What is missing is named, and no link is made.
func TestLinksThatCannotBeMade(t *testing.T) {
	const pods = "https://a.example/?pod={k8s.pod.name}&from={from}"
	none := "it is not known which process created the id"
	for _, c := range []struct {
		verdict  registry.Verdict
		template string
		want     string // the problem; "" for a link
	}{
		{registry.Known, pods, "k8s.pod.name is not known"},
		{registry.Claimed, pods, "k8s.pod.name is not known"},
		{registry.Unknown, pods, none},
		{registry.Conflict, pods, none},
		{registry.Collision, pods, none},
		{registry.Collision, "https://a.example/?{service.name}", none},
		{registry.Collision, "https://a.example/?{gpid}", none},
		{registry.Collision, "https://a.example/?{pid}", none},
		{registry.Collision, "https://a.example/?{id}&{from:ms}", ""}, // nothing of a process is in it
		{registry.Unknown, "https://a.example/?{id}", ""},
		{registry.Known, "https://a.example/?{deployment.environment.name}-{nobody}", "deployment.environment.name is not known"},
	} {
		got := link(t, c.template, traced(t, c.verdict, nil))
		if got.Problem != c.want || (got.URL == "") != (c.want != "") {
			t.Errorf("%s: %s: %+v, want %q", c.verdict, c.template, got, c.want)
		}
	}
}

// A process says what it wants to. No value of it leaves its place in the URL, or ends a text
// or a condition of the query in it.
func TestLinksOfHostileProcesses(t *testing.T) {
	template := "https://a.example/{v}?q={v}&from={from}#{v}"
	for _, value := range []string{
		`a"`, "a'", "a`", `a\`, "a{b", "a}b", "a b", "a\tb", "a\nb", "a\x00", "a|b", "a&b=c", "a#b", "a?b", "a%22", "a$__x", "a(b", "a)", "a*", "a!",
		"a;b", "a,b", "a=b", "a<b>", "a^b", "[a]", "../../admin", "..", "a/../b", "a\u202eb", "a\u200bb", "\xff", "😀",
	} {
		got := link(t, template, traced(t, registry.Known, map[string]string{"v": value}))
		if got.URL != "" || !strings.Contains(got.Problem, "v could change the meaning of the link") {
			t.Errorf("%q: %+v", value, got)
		}
	}
	for _, value := range []string{"shop-7d4b9c-x2x", "registry.example:5000/team/shop@sha256", "1.4.2+b7", "~x_y", "@host", "//evil.example", "javascript:alert"} {
		got := link(t, template, traced(t, registry.Claimed, map[string]string{"v": value}))
		u, err := url.Parse(got.URL)
		if err != nil || u.Host != "a.example" || u.Path != "/"+value || u.Query().Get("q") != value || u.Fragment != value {
			t.Errorf("%q: %+v, %v", value, got, err)
		}
	}
}

// A template that cannot mean what it says is refused at the start.
func TestParseLinks(t *testing.T) {
	for template, want := range map[string]string{
		"":                                      "want NAME=URL",
		"logs":                                  "want NAME=URL",
		"https://a.example/?x={id}":             "want NAME=URL",
		"=https://a.example/":                   "want NAME=URL",
		"{id}=https://a.example/":               "want NAME=URL",
		"logs=":                                 "want NAME=URL",
		"logs=a.example/{id}":                   "want NAME=URL",
		"logs=//a.example/{id}":                 "want NAME=URL",
		"logs=ftp://a.example/{id}":             "want NAME=URL",
		"logs=javascript:alert({id})":           "want NAME=URL",
		"logs=javascript://a.example/%0a{id}":   "want NAME=URL",
		"logs=data:text/html,{id}":              "want NAME=URL",
		"logs=https:///{id}":                    "want NAME=URL",
		"logs=https://{host.name}/":             "want NAME=URL",
		"logs=https://a.{cloud.region}.example": "want NAME=URL",
		"logs=https://a.example:{pid}/":         "want NAME=URL",
		"logs=https://me:secret@a.example/{id}": "want NAME=URL",
		`logs=https://a.example\{id}`:           "want NAME=URL",
		"logs=https://a.example/?q={ id }":      "want NAME=URL",
		"logs=https://a.example/\n{id}":         "want NAME=URL",
		"logs=https://a.example/?q={id":         "no single braces",
		"logs=https://a.example/?q={from:iso}":  "{from:iso} is neither an attribute nor a time",
		"logs=https://a.example/?q={time+1x}":   "{time+1x} is neither an attribute nor a time",
		"logs=https://a.example/?q={id:ms}":     "{id:ms} is neither an attribute nor a time",
	} {
		all, err := towire.ParseLinks([]string{template})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), fmt.Sprintf("link %q: ", template)) {
			t.Errorf("%q: %v, %v; want %q", template, all, err, want)
		}
	}
	if all, err := towire.ParseLinks([]string{"logs=https://a.example/", "logs=https://b.example/"}); err == nil || !strings.Contains(err.Error(), "another link has the same name") {
		t.Errorf("two of one name: %v, %v", all, err)
	}
	if all, err := towire.ParseLinks([]string{"logs=https://a.example/", "日志 2=https://b.example/"}); err != nil || len(all) != 2 {
		t.Errorf("two names: %v, %v", all, err)
	}
}

// Whatever a template and a process say, a link leads to the host of the template, over http or
// https, and can be read as a URL.
func FuzzLinks(f *testing.F) {
	f.Add("https://a.example/?q={v}&{from:ms}", "shop")
	f.Add("https://a.example/{v}/{v}#{{v}}", "../x")
	f.Add(`https://a.example?panes={"a":{"x":"{v}"}}`, `a"`)
	f.Fuzz(func(t *testing.T, template, value string) {
		all, err := towire.ParseLinks([]string{"x=" + template})
		if err != nil {
			return
		}
		host, _, _ := strings.Cut(strings.NewReplacer("?", "/", "#", "/").Replace(strings.SplitN(template, "://", 2)[1]), "/")
		l := all.Of(traced(t, registry.Known, map[string]string{"v": value}))[0]
		if (l.URL == "") == (l.Problem == "") {
			t.Fatalf("%q with %q: %+v", template, value, l)
		}
		rest, ok := strings.CutPrefix(strings.Replace(l.URL, "http://", "https://", 1), "https://"+host)
		if l.URL != "" && (!ok || rest != "" && !strings.ContainsAny(rest[:1], "/?#") || strings.ContainsAny(l.URL, " \"<>\\`{}|\n")) {
			t.Fatalf("%q with %q: %+v", template, value, l)
		}
	})
}
