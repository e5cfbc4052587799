package testenv

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"testing"
	"time"
)

// Proxy is a [Cable] between a client and a Redis, which knows where replies begin and end.
type Proxy struct{ Cable }

// NewProxy starts a proxy to the Redis at target, which ends with the test.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	p := &Proxy{Cable{redis: true}}
	p.connect(t, target)
	return p
}

// URL returns the URL of Redis behind the proxy.
func (p *Proxy) URL() string { return "redis://" + p.Addr }

// Delay makes every reply wait for d.
func (p *Proxy) Delay(d time.Duration) { p.change(func() { p.delay[answers] = d }) }

// SwallowReply drops the next reply and passes on those after it, which a client then takes
// for the replies to earlier requests.
func (p *Proxy) SwallowReply() { p.change(func() { p.losing, p.hangUp = 1, false }) }

// Heal undoes everything.
func (p *Proxy) Heal() {
	p.change(func() { p.cut, p.delay, p.losing = [2]bool{}, [2]time.Duration{}, 0 })
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
