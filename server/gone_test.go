package server_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/mongostore"
)

// The database server goes away in the middle, and the rest goes on.
func TestStoreIsGone(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "takes seconds")
	uri, database := testenv.FerretDB(t)
	r := serve(t, server.Options{
		Open:   func(ctx context.Context) (store.Store, error) { return mongostore.Open(ctx, uri) },
		Limits: server.Limits{Store: 2 * time.Second},
	})
	before := decode[wire.IDs](t, r.post(t, "/v1/ids", `{}`), 200).IDs[0]
	if got := decode[wire.Inspection](t, r.get(t, "/v1/ids/"+before.String()), 200); got.Trace == nil || got.Trace.Verdict != "known" {
		t.Errorf("while it is there: %+v", got.Trace)
	}
	database.Stop()
	r.fails = true
	wantProblem(t, r.get(t, "/v1/processes"), 503, "the store does not answer")
	wantProblem(t, r.post(t, "/v1/processes", `{"name":"x","pid":1}`), 503, "the store does not answer")
	after := decode[wire.IDs](t, r.post(t, "/v1/ids", `{"count":3}`), 200).IDs
	if after[0].String()[8:16] != before.String()[8:16] || after[0].Compare(before) <= 0 {
		t.Errorf("the ids %v afterwards are not of the same generator as %v", after, before)
	}
	if got := decode[wire.Inspection](t, r.get(t, "/v1/ids/"+before.String()), 200); got.TraceError == "" || got.Readings == nil {
		t.Errorf("an inspection: %+v", got)
	}
	for path, want := range map[string]string{"/?id=" + before.String(): "objectid modern", "/processes": "does not answer", "/range": "mongosh", "/census": "drop it here"} {
		if got := r.get(t, path, "Accept", "text/html"); !strings.Contains(got.body, want) || !strings.Contains(got.body, "</html>") {
			t.Errorf("%s: status %d without %q: %s", path, got.status, want, got.body)
		}
	}
	// The end cannot be recorded, which is said, and the server ends all the same.
	if err := r.stop(); err == nil || !strings.Contains(err.Error(), "the end of the process is not recorded") {
		t.Errorf("Serve: %v, want the error of the end", err)
	}
}
