package door

import (
	"net"
	"net/netip"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// slowListener takes a while for each connection, as on a busy machine.
type slowListener struct {
	*net.TCPListener
	accepted atomic.Int32
}

func (l *slowListener) Accept() (net.Conn, error) {
	c, err := l.TCPListener.Accept()
	if err == nil {
		time.Sleep(20 * time.Millisecond)
		l.accepted.Add(1)
	}
	return c, err
}

// A server that ends accepts all who have connected, however slow it is, but not for ever
// if there are always more.
func TestSettle(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("who waits is known on Linux only")
	}
	for _, endless := range []bool{false, true} {
		tcp, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		slow := &slowListener{TCPListener: tcp}
		l := newConnections(slow, Limits{Connections: 1000, PerAddress: 1000}, func(netip.Addr) bool { return true }, func() {})
		dial := func() bool {
			c, err := net.Dial("tcp", tcp.Addr().String())
			if err == nil {
				t.Cleanup(func() { c.Close() })
			}
			return err == nil
		}
		const clients = 15 // which take 0.3 s
		for range clients {
			if !dial() {
				t.Fatal("a client cannot connect")
			}
		}
		more := make(chan struct{})
		go func() {
			defer close(more)
			for endless && dial() {
				time.Sleep(10 * time.Millisecond)
			}
		}()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_ = c.Close()
			}
		}()
		began := time.Now()
		l.settle(t.Context())
		<-ended
		<-more
		n, took := slow.accepted.Load(), time.Since(began)
		if took < acceptFor && (endless || n != clients) {
			t.Errorf("closed after %v with %d clients accepted, while others came: %v", took, n, endless)
		}
		if dial() {
			t.Error("it still listens")
		}
	}
}
