package mongostore_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/store/mongostore"
)

// TestCloseDoesNotWaitForASilentServer: Close does not wait long for a server that does not
// end the sessions.
func TestCloseDoesNotWaitForASilentServer(t *testing.T) {
	server := newScripted(t)
	server.on("listCollections", func(bson.Raw) any {
		return bson.D{{Key: "ok", Value: 1}, {Key: "cursor", Value: bson.D{{Key: "id", Value: int64(0)}, {Key: "ns", Value: "test.$cmd.listCollections"}, {Key: "firstBatch", Value: bson.A{}}}}}
	})
	cable := testenv.NewCable(t, server.addr)
	s, err := mongostore.Open(t.Context(), "mongodb://"+cable.Addr+"/test?directConnection=true")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Collections(t.Context()); err != nil {
		t.Fatal(err)
	}
	cable.Cut(true, true)
	began := time.Now()
	err = s.Close()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("Close took %v, want a second; %v", took, err)
	}
}
