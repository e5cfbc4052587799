package testenv

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/oidkit/oid/objectid"
)

// MongoDB returns the URL of an empty database on a server that speaks MongoDB's
// protocol: the one whose URL is in the environment variable OID_TEST_MONGODB, where
// the database is dropped when the test ends, or a FerretDB of the test's own.
func MongoDB(t testing.TB) (uri string) {
	t.Helper()
	if server := os.Getenv("OID_TEST_MONGODB"); server != "" {
		return database(t, server)
	}
	uri, _ = FerretDB(t)
	return uri
}

// RealMongoDB reports whether the server of [MongoDB] is MongoDB itself. FerretDB keeps
// fewer types and uses no index for a range.
func RealMongoDB(t testing.TB) bool {
	t.Helper()
	server := os.Getenv("OID_TEST_MONGODB")
	if server == "" {
		return false
	}
	var about bson.Raw
	err := withMongoDB(server, func(ctx context.Context, c *mongo.Client) (err error) {
		about, err = c.Database("admin").RunCommand(ctx, bson.D{{Key: "buildInfo", Value: 1}}).Raw()
		return err
	})
	if err != nil {
		t.Fatalf("OID_TEST_MONGODB: %v", err)
	}
	return !strings.Contains(about.String(), `"ferretdb`) // its version and features
}

// withMongoDB calls do with a client of a server.
func withMongoDB(server string, do func(context.Context, *mongo.Client) error) error {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	client, err := mongo.Connect(options.Client().ApplyURI(server).SetServerSelectionTimeout(10 * time.Second))
	if err != nil {
		return err
	}
	defer client.Disconnect(ctx)
	return do(ctx, client)
}

// FerretDB starts a FerretDB and returns the URL of an empty database on it, and
// the process, for tests that end it.
func FerretDB(t testing.TB) (uri string, server *Process) {
	t.Helper()
	p := Start(t, built(t, "FerretDB"), t.TempDir())
	uri = p.Line(t, func(line string) (string, bool) {
		return line, strings.HasPrefix(line, "mongodb://")
	})
	return uri + "test", p
}

// database returns the URL of a database of a new name on the server, which is
// dropped when the test ends.
func database(t testing.TB, server string) string {
	t.Helper()
	name := "oid_test_" + objectid.New().String()
	uri := withDatabase(server, name)
	t.Cleanup(func() {
		err := withMongoDB(uri, func(ctx context.Context, c *mongo.Client) error { return c.Database(name).Drop(ctx) })
		if err != nil {
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
