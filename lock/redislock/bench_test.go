package redislock_test

import (
	"context"
	"strconv"
	"sync/atomic"
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
		lease, err := l.Acquire(context.Background(), "job", nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := lease.Release(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkManyLocks(b *testing.B) {
	l, err := redislock.Open(context.Background(), testenv.Redis(b).URL(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	b.ReportAllocs()
	b.SetParallelism(32)
	var n atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		name := "job " + strconv.FormatInt(n.Add(1), 10)
		for pb.Next() {
			lease, err := l.Acquire(context.Background(), name, nil)
			if err != nil {
				b.Error(err)
				return
			}
			if err := lease.Release(); err != nil {
				b.Error(err)
			}
		}
	})
}
