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
		old:                            {Name: "shop", Version: "1.4.1", Kind: "first-version"},
		next:                           {Name: "shop", Version: "1.4.2", Environment: "test", Revision: "a1b2", Kind: "first-version"},
		again:                          {Name: "shop", Version: "1.4.2", Kind: "new-version"},
		id(`{"name":"shop","pid":10}`): {},
	} {
		got := decode[wire.Inspection](t, r.get(t, "/v1/ids/"+id), 200).Trace
		if got == nil || got.Verdict != "known" {
			t.Fatalf("%s: %+v", id, got)
		}
		if got.Deploy == nil {
			got.Deploy = &wire.Deploy{}
		}
		if (want.Name == "") != got.Deploy.Time.IsZero() || time.Since(got.Deploy.Time) > time.Minute && want.Name != "" {
			t.Errorf("%+v", got.Deploy)
		}
		page := r.get(t, "/?id="+id).body
		if shown := strings.Contains(page, "<dt>Version</dt>"); shown != (want.Name != "") || shown && !strings.Contains(page, want.Version+" "+want.Revision+", first seen in the second of this id") && !strings.Contains(page, want.Version+", first seen ") {
			t.Errorf("the page of %s has no version: %s", id, page)
		}
		got.Deploy.Time = time.Time{}
		if *got.Deploy != want {
			t.Errorf("%+v, want %+v", *got.Deploy, want)
		}
	}
}
