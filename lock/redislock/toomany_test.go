package redislock_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock/redislock"
)

// A server with too many clients says so on a new connection before it has been asked anything.
// A call may end before the connection is used: the program must not end with it.
func TestTooManyClientsBeforeTheFirstRequest(t *testing.T) {
	t.Parallel()
	s := testenv.Redis(t)
	other := testenv.Must(net.Dial("tcp", s.Addr))(t)
	defer other.Close()
	l := testenv.Must(redislock.Open(t.Context(), s.URL(), nil))(t)
	defer l.Close()
	fmt.Fprint(other, "CONFIG SET maxclients 1\r\nCLIENT KILL TYPE normal\r\n")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 500 {
				ctx, stop := context.WithTimeout(t.Context(), rand.N(time.Millisecond))
				_, err := l.TryAcquire(ctx, fmt.Sprint("job", i), nil)
				stop()
				if err == nil {
					t.Error("there is a place")
				}
			}
		})
	}
	all.Wait()
}
