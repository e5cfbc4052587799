package lockmetrics_test

import (
	"context"
	"log"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oidkit/oid/lock/lockmetrics"
	"github.com/oidkit/oid/lock/redislock"
)

// The waits, leases, refusals and losses of locks become metrics of Prometheus.
func Example() {
	locker, err := redislock.Open(context.Background(), "redis://localhost:6379", &redislock.Options{
		Events: lockmetrics.New(prometheus.DefaultRegisterer, nil),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer locker.Close()
}

// A service that locks each customer counts all these locks together.
func ExampleOptions() {
	events := lockmetrics.New(prometheus.DefaultRegisterer, &lockmetrics.Options{
		Label: func(name string) string {
			kind, _, _ := strings.Cut(name, ":") // customer:4711
			return kind
		},
	})
	_ = redislock.Options{Events: events}
}
