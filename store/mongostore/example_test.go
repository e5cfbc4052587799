package mongostore_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/oidkit/oid/objectid"
)

// Use MongoDB's driver without package store: a range of ids becomes a filter, and an ID is
// stored as an ordinary ObjectId.
func Example_driver() {
	ctx := context.Background()
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://localhost"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Disconnect(ctx)
	coll := client.Database("shop").Collection("orders")
	n, err := ordersOfToday(ctx, coll)
	fmt.Println(n, err)
}

// ordersOfToday inserts an order and counts today's orders.
func ordersOfToday(ctx context.Context, coll *mongo.Collection) (n int, err error) {
	r := objectid.Since(time.Now().Truncate(24 * time.Hour))
	if _, err := coll.InsertOne(ctx, bson.D{{Key: "_id", Value: objectid.New()}, {Key: "item", Value: "bread"}}); err != nil {
		return n, err
	}
	cursor, err := coll.Find(ctx, r.Filter())
	if err != nil {
		return n, err
	}
	defer cursor.Close(ctx)
	for cursor.Next(ctx) {
		var order struct {
			ID objectid.ID `bson:"_id"`
		}
		if err := cursor.Decode(&order); err != nil {
			return n, err
		}
		n++
	}
	return n, cursor.Err()
}
