package redislock_test

import (
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock/internal/locktest"
)

func TestSlotsInOrder(t *testing.T) {
	locktest.SlotsInOrder(t, open(t, testenv.Redis(t).URL(), 0))
}
