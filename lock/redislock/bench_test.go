package redislock_test

import (
	"context"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock/redislock"
)

func BenchmarkAcquireRelease(b *testing.B) {
	l, err := redislock.Open(context.Background(), testenv.Redis(b).URL(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	b.ReportAllocs()
	for b.Loop() {
		lease, err := l.Acquire(context.Background(), "job")
		if err != nil {
			b.Fatal(err)
		}
		if err := lease.Release(); err != nil {
			b.Fatal(err)
		}
	}
}
