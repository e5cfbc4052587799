package pgstore_test

import (
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/internal/storetest"
)

func TestSignals(t *testing.T) {
	uri := testenv.PostgresSchema(t, testenv.PostgresURL(t))
	storetest.Signals(t, func() store.Store { return open(t, uri) }, false)
}

// A signal is sent even if its store is closed immediately afterwards, as a command does.
func TestCloseSendsSignals(t *testing.T) {
	uri := testenv.PostgresSchema(t, testenv.PostgresURL(t))
	signals, works, stop := open(t, uri).Listen("topic")
	defer stop()
	for !works() {
		<-signals
	}
	sender := open(t, uri)
	sender.Signal("topic")
	if err := sender.Close(); err != nil {
		t.Error(err)
	}
	select {
	case <-signals:
	case <-time.After(10 * time.Second):
		t.Error("the signal has not come")
	}
}
