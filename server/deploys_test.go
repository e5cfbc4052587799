package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// An inspected id says how the version of its process was deployed, if it has a version.
func TestDeployOfAnInspectedID(t *testing.T) {
	r := serve(t, server.Options{})
	id := func(body string) string {
		p := decode[wire.Registered](t, r.post(t, "/v1/processes", body), 201)
		return fmt.Sprintf("%08x%s00000001", time.Now().Unix(), p.ProcessBlock)
	}
	old := id(`{"name":"shop","version":"1.4.1","pid":7}`)
	time.Sleep(2 * time.Millisecond)
	next := id(`{"name":"shop","version":"1.4.2","pid":8,"labels":{"vcs.ref.head.revision":"a1b2","deployment.environment.name":"test"}}`)
	again := id(`{"name":"shop","version":"1.4.2","pid":9}`)
	for id, want := range map[string]wire.Deploy{
		old:                            {Service: "shop", Version: "1.4.1", First: true},
		next:                           {Service: "shop@test", Version: "1.4.2 a1b2", First: true},
		again:                          {Service: "shop", Version: "1.4.2"},
		id(`{"name":"shop","pid":10}`): {},
	} {
		got := decode[wire.Inspection](t, r.get(t, "/v1/ids/"+id), 200).Trace
		if got == nil || got.Verdict != "known" {
			t.Fatalf("%s: %+v", id, got)
		}
		if got.Deploy == nil {
			got.Deploy = &wire.Deploy{}
		}
		if (want.Version == "") != got.Deploy.Time.IsZero() || time.Since(got.Deploy.Time) > time.Minute && want.Version != "" {
			t.Errorf("%+v", got.Deploy)
		}
		text := got.Deploy.Text
		if page := r.get(t, "/?id="+id).body; strings.Contains(page, "<dt>Version</dt>") != (want.Version != "") || !strings.Contains(page, text) || !strings.HasPrefix(text, want.Version) {
			t.Errorf("the page of %s does not say %q", id, text)
		}
		got.Deploy.Text = ""
		got.Deploy.Time = time.Time{}
		if *got.Deploy != want {
			t.Errorf("%+v, want %+v", *got.Deploy, want)
		}
	}
}
