package mongostore

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Now returns the time of the server, see [store.Now].
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if err := s.life.Err(ctx); err != nil {
		return time.Time{}, err
	}
	var hello struct {
		Time time.Time `bson:"localTime"`
	}
	err := s.db.RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&hello)
	return hello.Time, s.explain(ctx, err)
}
