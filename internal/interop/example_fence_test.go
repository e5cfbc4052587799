package interop

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
)

// The code of docs/how-to/fences.md: a write under a fence, to PostgreSQL and to MongoDB.

func writePostgres(ctx context.Context, db *sql.DB, name, body string, fence uint64) error {
	result, err := db.ExecContext(ctx,
		"UPDATE reports SET body = $1, fence = $2 WHERE name = $3 AND fence <= $2",
		body, int64(fence), name)
	if err != nil {
		return err
	}
	if rows, err := result.RowsAffected(); err != nil || rows > 0 {
		return err
	}
	return lock.ErrStale // a later holder has written, or there is no such row
}

func writeMongoDB(ctx context.Context, reports *mongo.Collection, name, body string, fence uint64) error {
	_, err := reports.UpdateOne(ctx,
		bson.M{"_id": name, "fence": bson.M{"$lte": int64(fence)}},
		bson.M{"$set": bson.M{"fence": int64(fence), "body": body}},
		options.UpdateOne().SetUpsert(true))
	if mongo.IsDuplicateKeyError(err) { // it exists, with a higher fence
		return lock.ErrStale
	}
	return err
}

// fencedWrites checks a write under a fence by its outcome: the error, and what is stored.
func fencedWrites(t *testing.T, write func(body string, fence uint64) error, stored func() string) {
	t.Helper()
	const fence = 1795166651598985
	for _, c := range []struct {
		body  string
		fence uint64
		stale bool
		want  string
	}{
		{"first", fence, false, "first"},
		{"again", fence, false, "again"},
		{"later", fence + 1, false, "later"},
		{"stale", fence, true, "later"},
		{"latest", fence + 1<<32, false, "latest"},
		{"stale", fence + 1<<32 - 1, true, "latest"},
	} {
		err := write(c.body, c.fence)
		if (err != nil) != c.stale || c.stale && !errors.Is(err, lock.ErrStale) {
			t.Errorf("%s under %d: %v; want stale: %v", c.body, c.fence, err, c.stale)
		}
		if got := stored(); got != c.want {
			t.Errorf("after %s under %d: %q, want %q", c.body, c.fence, got, c.want)
		}
	}
}

func TestFencesInPostgres(t *testing.T) {
	db := testenv.Must(sql.Open("pgx", testenv.PostgresURL(t)))(t)
	defer db.Close()
	db.SetMaxOpenConns(1) // the table is one of its connection
	testenv.Must(db.Exec("CREATE TEMPORARY TABLE reports (name text PRIMARY KEY, body text, fence bigint NOT NULL DEFAULT 0)"))(t)
	testenv.Must(db.Exec("INSERT INTO reports (name) VALUES ('november')"))(t)
	fencedWrites(t, func(body string, fence uint64) error {
		return writePostgres(t.Context(), db, "november", body, fence)
	}, func() (body string) {
		testenv.WantError(t, "stored", db.QueryRow("SELECT body FROM reports WHERE name = 'november'").Scan(&body), nil)
		return body
	})
}

func TestFencesInMongoDB(t *testing.T) {
	client := testenv.Must(mongo.Connect(options.Client().ApplyURI(testenv.MongoDB(t))))(t)
	defer client.Disconnect(context.Background())
	reports := client.Database("fences").Collection("reports")
	t.Cleanup(func() { _ = reports.Drop(context.Background()) })
	fencedWrites(t, func(body string, fence uint64) error {
		return writeMongoDB(t.Context(), reports, "november", body, fence)
	}, func() string {
		var report struct{ Body string }
		testenv.WantError(t, "stored", reports.FindOne(t.Context(), bson.M{"_id": "november"}).Decode(&report), nil)
		return report.Body
	})
}
