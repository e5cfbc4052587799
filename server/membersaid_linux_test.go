package server_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/client"
	"github.com/oidkit/oid/server/wire"
)

// A member is recorded with what its process says of itself by OpenTelemetry, in its environment
// and later in a mapping. What the program says counts more.
func TestMemberSaid(t *testing.T) {
	t.Setenv("OTEL_SERVICE_NAME", "env")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "k8s.pod.name=env-1,host.id="+strings.Repeat("x", 201))
	r := serve(t, server.Options{})
	base, err := url.Parse(r.url)
	if err != nil {
		t.Fatal(err)
	}
	var refused atomic.Int64
	proxy := &httputil.ReverseProxy{Rewrite: func(q *httputil.ProxyRequest) { q.SetURL(base) }}
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { // of before descriptions
		body, _ := io.ReadAll(q.Body)
		if strings.HasSuffix(q.URL.Path, "/heartbeats") && bytes.Contains(body, []byte(`"description"`)) {
			refused.Add(1)
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, `{"type":"https://github.com/oidkit/oid/blob/main/docs/reference/api.md#invalid","title":"Unprocessable Entity","status":422,"detail":"validation failed"}`)
			return
		}
		q.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, q)
	}))
	defer old.Close()
	var warnings atomic.Int64
	options := &client.MemberOptions{Warn: func(err error) {
		if warnings.Add(1); !strings.Contains(err.Error(), `"host.id"`) {
			t.Errorf("warning: %v", err)
		}
	}}
	said := testenv.Must((&client.Client{URL: r.url}).NewMember(t.Context(), wire.Registration{IntervalSeconds: 1}, options))(t)
	defer said.End("done")
	given := testenv.Must((&client.Client{URL: r.url}).NewMember(t.Context(), wire.Registration{Name: "given", Version: "9", Labels: map[string]string{"k8s.pod.name": "mine"}, IntervalSeconds: 1}, options))(t)
	defer given.End("done")
	behind := testenv.Must((&client.Client{URL: old.URL}).NewMember(t.Context(), wire.Registration{Name: "behind", IntervalSeconds: 1}, options))(t)
	defer behind.End("done")
	of := func(m *client.Member) wire.Process {
		t.Helper()
		h, err := testenv.Get[wire.History](t.Context(), http.DefaultClient, r.url+"/v1/processes/"+m.GPID()+"?member="+m.Key())
		if err != nil {
			t.Fatal(err)
		}
		return h.Processes[0]
	}
	if p := of(said); p.Name != "env" || p.Version != "" || p.Labels["k8s.pod.name"] != "env-1" || len(p.Labels) != 1 {
		t.Errorf("recorded as %s %s %v, want what the environment says", p.Name, p.Version, p.Labels)
	}
	first := behind.Key()
	if err := testenv.PublishResource("service.name=sdk", "service.version=1.4.2", "service.instance.id=i-1", "k8s.pod.name=sdk-1"); err != nil {
		t.Fatal(err)
	}
	defer testenv.PublishResource()
	await(t, "what the SDK publishes", func() bool {
		p := of(said)
		return p.Name == "sdk" && p.Version == "1.4.2" && p.Labels["k8s.pod.name"] == "sdk-1" && p.Labels["service.instance.id"] == "i-1"
	})
	await(t, "the label that was not given", func() bool { return of(given).Labels["service.instance.id"] == "i-1" })
	if p := of(given); p.Name != "given" || p.Version != "9" || p.Labels["k8s.pod.name"] != "mine" {
		t.Errorf("recorded as %s %s %v, want what was given", p.Name, p.Version, p.Labels)
	}
	await(t, "a heartbeat that the older server refuses", func() bool { return refused.Load() > 0 })
	beats := of(behind).LastHeartbeat.Number
	await(t, "a later heartbeat", func() bool { return of(behind).LastHeartbeat.Number > beats+1 })
	if behind.Key() != first || refused.Load() != 1 || warnings.Load() < 3 {
		t.Errorf("with an older server the member is %s, before %s; %d heartbeats were refused, want 1; %d warnings, want 3 or more", behind.Key(), first, refused.Load(), warnings.Load())
	}
}
