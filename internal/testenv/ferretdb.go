package testenv

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/oidkit/oid/objectid"
)

// MongoDB returns the URL of an empty database on a server that speaks MongoDB's
// protocol: a FerretDB of the test's own, or the real server that
// [RealMongoDB] reports. On a real server the database is dropped when the test
// ends.
func MongoDB(t testing.TB) (uri string) {
	t.Helper()
	if RealMongoDB() {
		return database(t, os.Getenv("OID_TEST_MONGODB"))
	}
	uri, _ = FerretDB(t)
	return uri
}

// RealMongoDB reports whether tests run on a real server, whose URL is in the
// environment variable OID_TEST_MONGODB. FerretDB keeps fewer types, has no
// change streams and uses no index for a range.
func RealMongoDB() bool { return os.Getenv("OID_TEST_MONGODB") != "" }

// FerretDB starts a FerretDB and returns the URL of an empty database on it, and
// the process, for tests that end it.
func FerretDB(t testing.TB) (uri string, server *Process) {
	t.Helper()
	Long(t, "starts FerretDB")
	program, err := buildFerretDB()
	if err != nil {
		Missing(t, fmt.Sprintf("FerretDB cannot be built: %v; it needs the Go command and its module proxy, or set OID_TEST_MONGODB to the URL of a MongoDB server", err))
	}
	p := Start(t, program, t.TempDir())
	uri = p.Line(t, func(line string) (string, bool) {
		return line, strings.HasPrefix(line, "mongodb://")
	})
	return uri + "test", p
}

// buildFerretDB builds the nested module ferretdb. The first time takes a minute.
var buildFerretDB = sync.OnceValues(func() (string, error) {
	return buildNested("ferretdb", "-tags", "ferretdb_no_postgresql")
})

// database returns the URL of a database of a new name on the server, which is
// dropped when the test ends.
func database(t testing.TB, server string) string {
	t.Helper()
	name := "oid_test_" + objectid.New().String()
	uri := withDatabase(server, name)
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		client, err := mongo.Connect(options.Client().ApplyURI(uri).SetServerSelectionTimeout(10 * time.Second))
		if err != nil {
			t.Errorf("drop database %s: %v", name, err)
			return
		}
		defer client.Disconnect(ctx)
		if err := client.Database(name).Drop(ctx); err != nil {
			t.Errorf("drop database %s: %v", name, err)
		}
	})
	return uri
}

// withDatabase returns the URL of the database called name on a server. The URL
// may list several hosts, which package net/url does not take.
func withDatabase(server, name string) string {
	base, query, _ := strings.Cut(server, "?")
	scheme, rest, _ := strings.Cut(base, "://")
	hosts, _, _ := strings.Cut(rest, "/")
	if strings.Contains(hosts, "@") && !strings.Contains(query, "authSource=") {
		query += "&authSource=admin"
	}
	return scheme + "://" + hosts + "/" + name + "?" + strings.TrimPrefix(query, "&")
}
