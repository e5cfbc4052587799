package redislock

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/redis/rueidis"

	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/internal/calls"
)

// Open connects to the Redis at a URL and returns a Locker that uses it. The URLs are:
//
//	redis://user:password@host:port/db
//	rediss://host:port                              with TLS
//	unix:///path/to/redis.sock
//	redis://host1:port?addr=host2:port              a Redis Cluster
//	redis-sentinel://host1:port,host2:port/name/db  the primary called name
//
// In a redis-sentinel URL, or rediss-sentinel with TLS, the hosts are Sentinels, but the user and
// the password are those of the primary. Another way to write such a URL is
// redis://host1?addr=host2&master_set=name. The query prefix=NAME sets Options.Prefix. The
// schemes valkey and valkeys mean redis and rediss.
//
// The error wraps [lock.ErrInvalid] if the URL or an option is invalid; otherwise it says why Open
// could not connect, or why this process cannot be identified. Open tries once: call it again if
// Redis may only be starting, or may have too many clients for the moment.
func Open(ctx context.Context, rawURL string, o *Options) (*Locker, error) {
	opts := *cmp.Or(o, &Options{})
	clientOptions, err := parseURL(rawURL)
	prefix, bad := prefixOf(rawURL)
	if err = cmp.Or(err, bad); err != nil {
		return nil, fmt.Errorf("redislock: %w", err)
	}
	d := &dialer{base: clientOptions.DialCtxFn, conns: map[*conn]time.Time{}}
	clientOptions.DialCtxFn = d.dial
	driver, err := connect(ctx, clientOptions)
	if err != nil {
		return nil, fmt.Errorf("redislock: connect to %s: %w", strings.Join(clientOptions.InitAddress, ", "), err)
	}
	opts.Prefix = cmp.Or(prefix, opts.Prefix)
	closeClient := driver.client.(rueidis.Client).Close
	l, err := NewWithDriver(ctx, driver, &opts)
	if err != nil {
		closeClient()
		return nil, err
	}
	l.closeClient, l.reset = closeClient, d.closeBefore
	return l, nil
}

// parseURL returns the options of a client for a URL.
func parseURL(rawURL string) (rueidis.ClientOption, error) {
	o, err := rueidis.ParseURL(withoutSentinel(rawURL))
	for i := 0; err == nil && o.DialCtxFn == nil && i < len(o.InitAddress); i++ { // a socket has no port
		_, port, _ := net.SplitHostPort(o.InitAddress[i])
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		if bad := (*url.Error)(nil); errors.As(err, &bad) {
			err = bad.Err // without the URL, which may contain a password
		}
		return o, fmt.Errorf("%w URL of Redis: %w: want redis://host:port, rediss://host:port, redis-sentinel://host:port/name or unix:///path", lock.ErrInvalid, err)
	}
	o.DisableCache, o.ClientSetInfo = true, rueidis.DisableClientSetInfo
	o.Dialer.Timeout = cmp.Or(o.Dialer.Timeout, maxTry)
	o.ConnWriteTimeout = cmp.Or(o.ConnWriteTimeout, maxTry)
	// Only requests with ToPipe share a connection, see rueidisDriver.
	o.DisableAutoPipelining = true
	// One shared connection, not several: the requests of many goroutines then go in one
	// packet, and Redis answers them together.
	o.PipelineMultiplex = -1
	// Requests and replies are short. The default buffers of half a megabyte for each
	// connection would be most of the memory of a small program.
	o.ReadBufferEachConn, o.WriteBufferEachConn = 16<<10, 16<<10
	return o, nil
}

// withoutSentinel returns a URL with the scheme redis-sentinel in the form that rueidis
// understands, and other URLs unchanged.
func withoutSentinel(rawURL string) string {
	scheme, rest, _ := strings.Cut(rawURL, "://")
	plain, found := strings.CutSuffix(scheme, "-sentinel")
	if !found {
		return rawURL
	}
	rest, query, _ := strings.Cut(rest, "?")
	at := strings.LastIndexByte(rest, '@') + 1
	hosts, path, _ := strings.Cut(rest[at:], "/")
	name, db, _ := strings.Cut(path, "/")
	name, err := url.PathUnescape(name)
	if err != nil || name == "" {
		return rawURL
	}
	all := strings.Split(hosts, ",")
	for i, host := range all {
		if _, _, err := net.SplitHostPort(host); err != nil {
			all[i] = host + ":26379"
		}
	}
	for _, host := range all[1:] {
		query += "&addr=" + url.QueryEscape(host)
	}
	if db != "" {
		query += "&db=" + db
	}
	return plain + "://" + rest[:at] + all[0] + "?" + strings.TrimPrefix(query+"&master_set="+url.QueryEscape(name), "&")
}

// newDriver connects to Redis. If there is one address, rueidis would first ask whether it belongs
// to a cluster. newDriver learns that from INFO, which a new Locker needs anyway.
func newDriver(o rueidis.ClientOption) (*rueidisDriver, error) {
	one := o
	one.ForceSingleClient = len(o.InitAddress) == 1 && o.Sentinel.MasterSet == ""
	client, err := rueidis.NewClient(one)
	d := &rueidisDriver{client: client, trusted: o.Password == ""}
	if err != nil || !one.ForceSingleClient {
		return d, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxTry)
	defer cancel()
	d.infos = d.Info(ctx)
	for _, info := range d.infos {
		if strings.Contains(info, "cluster_enabled:0") {
			return d, nil
		}
	}
	client.Close()
	client, err = rueidis.NewClient(o)
	return &rueidisDriver{client: client, trusted: d.trusted}, err
}

// connect is newDriver with a context.
func connect(ctx context.Context, o rueidis.ClientOption) (*rueidisDriver, error) {
	type result struct {
		driver *rueidisDriver
		err    error
	}
	began, made := time.Now(), make(chan result, 1)
	go func() {
		driver, err := newDriver(o)
		made <- result{driver, err}
	}()
	select {
	case r := <-made:
		if r.err != nil {
			return nil, explain(r.err, o)
		}
		return r.driver, nil
	case <-ctx.Done():
		go func() {
			if r := <-made; r.err == nil {
				r.driver.client.(rueidis.Client).Close()
			}
		}()
		if err := ctx.Err(); err != context.DeadlineExceeded {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", ctx.Err(), calls.NoAnswer(time.Since(began)))
	}
}

// explain adds to an error of the first connection what may be the cause.
func explain(err error, o rueidis.ClientOption) error {
	var timeout net.Error
	var network *net.OpError
	e, fromRedis := rueidis.IsRedisErr(err)
	switch {
	case fromRedis && strings.HasPrefix(e.Error(), "NOAUTH"):
		return fmt.Errorf("it wants a password; write redis://user:password@host: %w", ReplyError(e.Error()))
	case fromRedis:
		return ReplyError(e.Error())
	case errors.Is(err, io.EOF) && answersPing(o):
		return errors.New("it answers PING but hangs up on HELLO, as the proxy twemproxy does, which lacks SUBSCRIBE and INFO too: use the address of the Redis behind it")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return explained{"it hung up without an answer (if it speaks TLS, write rediss://)", err}
	case errors.As(err, &timeout) && timeout.Timeout() && o.TLSConfig != nil:
		return explained{calls.NoAnswer(o.ConnWriteTimeout).Error() + " (if it does not speak TLS, write redis://)", err}
	case errors.As(err, &timeout) && timeout.Timeout():
		return calls.NoAnswer(o.ConnWriteTimeout)
	case errors.As(err, &network), o.TLSConfig != nil:
		return err
	}
	return fmt.Errorf("it does not speak the protocol of Redis: %w", err)
}

// answersPing reports whether a server answers a PING as Redis does.
func answersPing(o rueidis.ClientOption) bool {
	c, err := o.DialCtxFn(context.Background(), o.InitAddress[0], &o.Dialer, o.TLSConfig)
	if err != nil {
		return false
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(maxTry))
	answer := make([]byte, len("+PONG"))
	_, err1 := io.WriteString(c, "*1\r\n$4\r\nPING\r\n")
	_, err2 := io.ReadFull(c, answer)
	return err1 == nil && err2 == nil && string(answer) == "+PONG"
}

// explained is an error with a text of its own in place of the text of err. It has no Unwrap,
// so that a caller who looks for the innermost error still gets the text.
type explained struct {
	text string
	err  error
}

func (e explained) Error() string        { return e.text }
func (e explained) Is(target error) bool { return errors.Is(e.err, target) }
func (e explained) As(target any) bool   { return errors.As(e.err, target) }

// dialer opens the connections of a client and can close them.
type dialer struct {
	base func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) // nil: TCP

	mu    sync.Mutex
	conns map[*conn]time.Time // open connections, and when they were opened
}

func (d *dialer) dial(ctx context.Context, addr string, nd *net.Dialer, config *tls.Config) (net.Conn, error) {
	// Several requests may wait for this connection. If the ctx of the first of them ends, the
	// others still need it. The dialer has a timeout of its own.
	ctx = context.WithoutCancel(ctx)
	var c net.Conn
	var err error
	switch {
	case d.base != nil:
		c, err = d.base(ctx, addr, nd, config)
	case config != nil:
		c, err = (&tls.Dialer{NetDialer: nd, Config: config}).DialContext(ctx, "tcp", addr)
	default:
		c, err = nd.DialContext(ctx, "tcp", addr)
	}
	if err != nil {
		return nil, err
	}
	tracked := &conn{Conn: c, dialer: d}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conns[tracked] = time.Now()
	return tracked, nil
}

// closeBefore closes the connections that were opened before t. The client then opens new
// ones.
func (d *dialer) closeBefore(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c, opened := range d.conns {
		if opened.Before(t) {
			delete(d.conns, c)
			_ = c.Conn.Close()
		}
	}
}

// conn is a connection that its dialer can close.
type conn struct {
	net.Conn
	dialer  *dialer
	reading atomic.Bool // a goroutine is waiting for replies
	asked   atomic.Bool // a request was sent
}

// Read reads into b.
func (c *conn) Read(b []byte) (int, error) {
	c.reading.Store(true)
	defer c.reading.Store(false)
	n, err := c.Conn.Read(b)
	if n > 0 && !c.asked.Load() {
		// Redis speaks first only to refuse a connection, for example when it has too many
		// clients. The client panics if it meets this while it closes an unused connection.
		return 0, ReplyError(bytes.TrimPrefix(b[:n], []byte("-")))
	}
	return n, err
}

// Write writes b. If several goroutines use the connection, it lets others run first, so that
// their requests go in the next packet together.
func (c *conn) Write(b []byte) (int, error) {
	c.asked.Store(true)
	if c.reading.Load() {
		runtime.Gosched()
	}
	return c.Conn.Write(b)
}

// Close closes the connection.
func (c *conn) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.conns, c)
	c.dialer.mu.Unlock()
	return c.Conn.Close()
}
