package door

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/oidkit/oid/objectid"
)

// origin says at which URL and through which proxies clients reach the server.
type origin struct {
	base    *url.URL // Options.BaseURL without a slash at the end of its path; empty if there is none
	proxies []netip.Prefix
}

// newOrigin reads Options.BaseURL.
func newOrigin(base string, proxies []netip.Prefix) (origin, error) {
	o := origin{base: &url.URL{}, proxies: proxies}
	if base == "" {
		return o, nil
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return o, fmt.Errorf("server: base URL %q: want one such as https://host/oid/", base)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	if strings.Contains(u.Path, "//") || u.RawPath != "" || strings.ContainsAny(u.Path, `"'<>&`) {
		return o, fmt.Errorf("server: base URL %q: want a path of plain segments", base)
	}
	o.base = u
	return o, nil
}

// Base returns the path of the base URL without a slash at its end, such as /oid. It is empty
// if clients reach the server at the root.
func (d *Door) Base() string { return d.origin.base.Path }

// secure reports whether the sender of r reaches the server over TLS.
func (o *origin) secure(r *http.Request) bool {
	if o.base.Scheme != "" {
		return o.base.Scheme == "https"
	}
	return r.TLS != nil || isForwarded(r) && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

func (o *origin) trusts(a netip.Addr) bool {
	return slices.ContainsFunc(o.proxies, func(p netip.Prefix) bool { return p.Contains(a.Unmap().WithZone("")) })
}

// forwarded are headers that proxies add to requests.
var forwarded = []string{
	"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Server", "X-Forwarded-Prefix",
	"X-Real-Ip", "Forwarded", "Via",
}

// throughProxy returns the name of a header of r that a proxy has added, or "".
func throughProxy(r *http.Request) string {
	for _, name := range forwarded {
		if _, ok := r.Header[name]; ok {
			return name
		}
	}
	return ""
}

// isForwardedKey is a key in the context of requests that came from a trusted proxy.
type isForwardedKey struct{}

func isForwarded(r *http.Request) bool { return r.Context().Value(isForwardedKey{}) != nil }

// receive returns r with the address of the client instead of the address of a trusted
// proxy, and without the path of the base URL.
func (o *origin) receive(r *http.Request) *http.Request {
	client, trusted := o.client(r)
	path, under := strings.CutPrefix(r.URL.Path, o.base.Path)
	under = under && o.base.Path != "" && strings.HasPrefix(path, "/")
	if !trusted && !under {
		return r
	}
	ctx := r.Context()
	if trusted {
		ctx = context.WithValue(ctx, isForwardedKey{}, true)
	}
	r = r.WithContext(ctx)
	if trusted && client.IsValid() {
		r.RemoteAddr = netip.AddrPortFrom(client, 0).String()
	}
	if under {
		u := *r.URL
		u.Path, u.RawPath = path, strings.TrimPrefix(u.RawPath, o.base.Path)
		r.URL = &u
	}
	return r
}

// client returns the address of the client of r, and whether r came from a trusted proxy.
// Whoever may connect to a Unix socket is trusted.
func (o *origin) client(r *http.Request) (client netip.Addr, trusted bool) {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err == nil && !o.trusts(peer.Addr()) || err != nil && !isUnix(r) {
		return peer.Addr(), false
	}
	client = peer.Addr()
	// The list is read from the last proxy to the first. Whatever is left of an untrusted
	// address may be forged.
	all := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(all) {
		a, err := addressIn(strings.TrimSpace(text))
		if err != nil {
			break
		}
		if client = a.Unmap().WithZone(""); !o.trusts(client) {
			break
		}
	}
	return client, true
}

func isUnix(r *http.Request) bool {
	a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && a.Network() == "unix"
}

// checkOrigin returns an error if r names a host that the server does not serve. Without a
// token, it also refuses requests that came through a proxy, because a proxy would make the
// server public. With a token, probes may name any host.
func (d *Door) checkOrigin(r *http.Request, probe bool) error {
	local := isLoopbackHost(r.Host)
	switch {
	case probe && (local || d.HasTokens()):
		return nil
	case d.HasTokens():
		if b := d.origin.base; b.Host != "" && !strings.EqualFold(r.Host, b.Host) && !local && !isAddress(r.Host) {
			return ErrBase
		}
		return nil
	case d.loopback.Load() && !local:
		return ErrHost
	}
	if header := throughProxy(r); header != "" && d.loopback.Load() {
		return fmt.Errorf("the request came through a proxy (it has the header %s), and %w", header, ErrProxied)
	}
	return nil
}

// isAddress reports whether a Host header is an IP address. Operators of the server may use
// it.
func isAddress(host string) bool {
	_, err := addressIn(host)
	return err == nil
}

// isLoopbackHost reports whether a Host header names this host by a loopback address or as
// localhost, which no DNS server can redirect.
func isLoopbackHost(host string) bool {
	ip, err := addressIn(host)
	return err == nil && ip.IsLoopback() || strings.EqualFold(withoutPort(host), "localhost")
}

// addressIn returns the IP address in a text, which may also have a port.
func addressIn(text string) (netip.Addr, error) {
	return netip.ParseAddr(strings.Trim(withoutPort(text), "[]"))
}

func withoutPort(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}

// Receive must be called first for each request. It returns r with the address of the client
// instead of the address of a trusted proxy, and without the path of the base URL. It also
// returns the id of the request, which is in its log lines and in its answer.
func (d *Door) Receive(r *http.Request) (received *http.Request, id string) {
	r = d.origin.receive(r)
	id = requestIDOf(r)
	if c := connectionOf(r); c != nil {
		c.request.Store(&id)
	}
	return r, id
}

// requestIDOf returns the id that a trusted proxy has given to r, or a new one.
func requestIDOf(r *http.Request) string {
	if isForwarded(r) {
		id := r.Header.Get("X-Request-Id")
		if id != "" && len(id) <= 100 && strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.") == "" {
			return id
		}
	}
	return objectid.New().String()
}

// RequestID returns the id of the request with the context ctx, or "".
func RequestID(ctx context.Context) string {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok {
		if id := c.request.Load(); id != nil {
			return *id
		}
	}
	return ""
}
