package redislock_test

import (
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/redislock"
)

func TestGuard(t *testing.T) {
	server := testenv.Redis(t)
	g := redislock.Guard{Client: newNaive(t, server.URL()).client, Key: "k"}
	for _, step := range []struct {
		fence uint64
		seen  uint64 // that refuses it
	}{
		{9, 0},
		{10, 0}, // longer, though the text is smaller
		{10, 0},
		{9, 10},
		{0, 10},
		{1795166651598985, 0},
		{1795166651598984, 1795166651598985},
		{math.MaxUint64, 0}, // beyond what a number in Lua can hold exactly
		{math.MaxUint64 - 1, math.MaxUint64},
	} {
		err := g.Set(t.Context(), step.fence, "value")
		var stale *lock.StaleError
		switch {
		case step.seen == 0 && err != nil:
			t.Errorf("fence %d: %v", step.fence, err)
		case step.seen != 0 && (!errors.As(err, &stale) || stale.Seen != step.seen || stale.Fence != step.fence):
			t.Errorf("fence %d: %v, want it refused for %d", step.fence, err, step.seen)
		}
	}
	server.CLI("SET", "other", "no hash")
	if err := (redislock.Guard{Client: g.Client, Key: "other"}).Set(t.Context(), 1, "x"); err == nil || errors.Is(err, lock.ErrStale) {
		t.Errorf("Set of a key that is no hash: %v", err)
	}
}

func TestGuardWithManyWriters(t *testing.T) {
	server := testenv.Redis(t)
	g := redislock.Guard{Client: newNaive(t, server.URL()).client, Key: "k"}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				if err := g.Set(t.Context(), uint64(1+8*j+i), "x"); err != nil && !errors.Is(err, lock.ErrStale) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := server.CLI("HGET", "k", "fence"); got != "400" {
		t.Errorf("fence %s, want the highest, 400", got)
	}
}
