package testenv

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"testing"
	"time"
)

// Proxy stands between a client and a Redis and does to their conversation what
// networks do, and some worse things. Its methods may be called at any time.
type Proxy struct {
	relay

	noAsking  bool
	noReplies bool
	delay     time.Duration
	swallow   int
	hangUp    bool
}

// NewProxy starts a proxy to the Redis at target, which ends with the test.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	p := new(Proxy)
	p.start(t, target, func(client, server net.Conn) {
		both(func() {
			p.requests(server, client)
			server.Close()
		}, func() {
			p.replies(client, server)
			client.Close()
		})
	})
	return p
}

// URL returns the URL of Redis behind the proxy.
func (p *Proxy) URL() string { return "redis://" + p.Addr }

// Cut holds back requests, replies or both, as a network does that loses all
// packets: once it is whole again they arrive.
func (p *Proxy) Cut(requests, replies bool) {
	p.change(func() { p.noAsking, p.noReplies = requests, replies })
}

// Delay makes every reply wait for d.
func (p *Proxy) Delay(d time.Duration) { p.change(func() { p.delay = d }) }

// Swallow drops the next n replies and passes on those after them, which a
// client then takes for the replies to earlier requests. With hangUp it closes
// the connection instead of passing on more.
func (p *Proxy) Swallow(n int, hangUp bool) {
	p.change(func() { p.swallow, p.hangUp = n, hangUp })
}

// Heal undoes everything.
func (p *Proxy) Heal() {
	p.change(func() {
		p.noAsking, p.noReplies, p.delay, p.swallow, p.hangUp = false, false, 0, 0, false
	})
}

func (p *Proxy) requests(server io.Writer, client io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := client.Read(buf)
		if !p.wait(func() bool { return p.noAsking }) {
			return
		}
		if n > 0 {
			if _, err := server.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *Proxy) replies(client io.Writer, server io.Reader) {
	r := bufio.NewReader(server)
	for {
		frame, err := readFrame(r, nil)
		if !p.wait(func() bool { return p.noReplies }) || err != nil {
			return
		}
		p.mu.Lock()
		delay, swallow, hangUp := p.delay, frame[0] != '>' && p.swallow > 0, p.hangUp
		if swallow {
			p.swallow--
		}
		p.mu.Unlock()
		time.Sleep(delay)
		if swallow && hangUp {
			return
		}
		if !swallow {
			if _, err := client.Write(frame); err != nil {
				return
			}
		}
	}
}

// readFrame appends one reply in the Redis serialization protocol to frame. See
// https://redis.io/docs/latest/develop/reference/protocol-spec/.
func readFrame(r *bufio.Reader, frame []byte) ([]byte, error) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	frame = append(frame, line...)
	count, _ := strconv.Atoi(string(line[1 : len(line)-2])) // what is no number has nothing after it
	switch line[0] {
	case '+', '-', ':', '_', '#', ',', '(':
		return frame, nil
	case '$', '!', '=':
		if count < 0 {
			return frame, nil
		}
		begin := len(frame)
		frame = append(frame, make([]byte, count+2)...)
		_, err := io.ReadFull(r, frame[begin:])
		return frame, err
	case '%', '|':
		count *= 2
	case '*', '~', '>':
	default:
		return nil, fmt.Errorf("reply begins with %q", line[0])
	}
	for range count {
		if frame, err = readFrame(r, frame); err != nil {
			return nil, err
		}
	}
	return frame, nil
}
