package server_test

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/filelock"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/server/wire"
)

// furnish gives a server something to show, and returns the URLs of its views. That
// of the login is another server's, which wants a token.
func furnish(t *testing.T, r *running) map[string]string {
	t.Helper()
	shop := decode[wire.Registered](t, r.post(t, "/v1/processes", fmt.Sprintf(
		`{"name":"shop","address":"10.0.0.7:8080","pid":4711,"started":%q,"version":"1.4.2","host":"node-3","labels":{"team":"orders","k8s.deployment.name":"shop","k8s.pod.name":"shop-7d4b9cf6d5-x2xkp","k8s.namespace.name":"prod","k8s.node.name":"node-3"},"interval_seconds":60}`,
		time.Now().Add(-26*time.Hour).Format(time.RFC3339))), 201)
	beat := memberPath(shop.Member) + "/heartbeats"
	for i := range 40 {
		body := fmt.Sprintf(`{"cpu_seconds":%d.%09d,"memory_bytes":%d,"files":%d,"threads":12}`,
			0, int64(i)*3_000_000+int64(i%7)*1_500_000, 80_000_000+int64(i*i%23)*2_000_000, 20+i%5)
		if got := r.post(t, beat, body); got.status != 200 {
			t.Fatalf("heartbeat: %s", got.body)
		}
	}
	worker := decode[wire.Registered](t, r.post(t, "/v1/processes", `{"name":"worker","address":"10.0.0.8:9000","pid":17}`), 201)
	r.do(t, "DELETE", memberPath(worker.Member)+"?reason=deployed+again", nil)
	made := decode[wire.IDs](t, r.post(t, "/v1/ids", `{"count":40}`), 200)
	var list strings.Builder
	for _, id := range made.IDs {
		list.WriteString(id.String() + "\n")
	}
	shopID := fmt.Sprintf("%08x%s00a1b2c3", time.Now().Unix(), shop.ProcessBlock)
	views := map[string]string{
		"inspect-one":     "/?id=" + shopID,
		"inspect-old":     "/?id=507f1f77bcf86cd799439011",
		"inspect-others":  "/?id=" + url.QueryEscape("c232ab00-9414-11ec-b3c8-9f6bdeced846 01ARZ3NDEKTSV4RRFFQ69G5FAV nonsense"),
		"inspect-many":    "/?id=" + url.QueryEscape(list.String()),
		"inspect-time":    "/?id=201210312040",
		"range-day":       "/range?since=24h",
		"range-error":     "/range?from=soon",
		"odds":            "/odds",
		"odds-error":      "/odds?processes=0.5",
		"range-process":   "/range?since=24h&process=" + shop.ProcessBlock,
		"locks-none":      "/locks?q=no+such+lock",
		"process":         "/processes/" + shop.GPID,
		"no-such-process": "/processes/10.0.0.9:1:1795166651598985:1",
	}
	for _, path := range viewPaths {
		views[cmp.Or(path[1:], "start")] = path
	}
	for name, path := range views {
		views[name] = r.url + path
	}
	views["login"] = serve(t, server.Options{Token: token}).url + "/login"
	return views
}

// dump is an export with three writers, one of whose clocks stepped back.
func dump() string {
	var b strings.Builder
	for i := range 3000 {
		seconds := 1790000000 + i*173
		writer := []string{"0a1b2c3d4e", "bcf86cd799", "7cac81af71"}[i%7%3]
		if i%500 == 499 {
			seconds -= 40_000
		}
		fmt.Fprintf(&b, "{\"_id\":{\"$oid\":\"%08x%s%06x\"},\"n\":%d}\n", seconds, writer, i*3, i)
	}
	b.WriteString("{\"_id\":\"a string\"}\n{broken\n")
	return b.String()
}

// form is a multipart form with a file, whose boundary is B.
func form(file string) string {
	return "--B\r\nContent-Disposition: form-data; name=\"field\"\r\n\r\n_id\r\n" +
		"--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"orders.json\"\r\n\r\n" + file + "\r\n--B--\r\n"
}

// withLocks returns a function that opens locks in files, of which it holds some until
// the test ends.
func withLocks(t *testing.T, names ...string) func(context.Context) (lock.Locker, error) {
	t.Helper()
	folder := t.TempDir()
	mine, err := filelock.New(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		lease, err := mine.Acquire(t.Context(), name, &lock.AcquireOptions{Command: "./" + name + ".sh --all"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = lease.Release() })
	}
	t.Cleanup(func() { _ = mine.Close() })
	return func(context.Context) (lock.Locker, error) { return filelock.New(folder, nil) }
}

// look checks the page that a tab shows at every size, after axe was loaded into it.
func (b *tab) look(name string) {
	b.t.Helper()
	if behindNginx(b.t) { // which changes neither a size nor what axe finds
		b.as(looks[0])
		b.screenshot(name + "-" + looks[0].name)
		return
	}
	for i, l := range looks {
		b.as(l)
		if wide := eval[int](b, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
			b.t.Errorf("%s, %s: the page is %d pixels wider than the screen", name, l.name, wide)
		}
		if l.axe != "" && (i < 2 || !b.briefly) {
			b.checkAccess(name+", "+l.name, l.axe)
		}
		if moving := eval[int](b, `[...document.querySelectorAll('*')].filter((e) => { const s = getComputedStyle(e); return s.transitionDuration !== '0s' || s.animationName !== 'none'; }).length`); moving > 0 && strings.HasPrefix(l.media, "prefers-reduced-motion") {
			b.t.Errorf("%s, %s: %d elements move", name, l.name, moving)
		}
		if flat := eval[int](b, `[...document.querySelectorAll('main button')].filter((e) => getComputedStyle(e).borderTopStyle === 'none').length`); flat > 0 && strings.HasPrefix(l.media, "forced-colors") {
			b.t.Errorf("%s, %s: %d buttons look like text", name, l.name, flat)
		}
		if l == looks[0] || os.Getenv(screenshots) != "" {
			b.screenshot(name + "-" + l.name)
		}
	}
}

// Every view is shown on small and large screens, in light and dark and enlarged,
// without an error in the console, without anything that the policy forbids, without
// anything wider than the screen, and without a fault that axe finds. In dark, axe looks
// at the colours alone: nothing else differs from light.
func TestLooks(t *testing.T) {
	t.Parallel()
	axe := testenv.Axe(t)
	r := serve(t, server.Options{Version: "v1.0.0", StoreName: "PostgreSQL", OpenLocks: withLocks(t, "nightly-report", "import"), Links: []string{
		"logs=https://logs.example/?pod={k8s.pod.name}&from={from:ms}&to={to:ms}", "traces=https://traces.example/?q={cloud.region}",
	}})
	views := furnish(t, r)
	b := newTab(t, browserOf(t), "")
	for name, address := range views {
		b.t = t
		b.allowed = []string{"422 (Unprocessable", "404 (Not Found)"} // of the views that show an error
		b.open(address)
		b.do(chromedp.WaitVisible("main h1"), chromedp.Evaluate[chromedp.Void](axe))
		if title := eval[string](b, "document.title"); !strings.HasSuffix(title, " · oid") {
			t.Errorf("%s: title %q", name, title)
		}
		b.look(name)
	}
	file := filepath.Join(t.TempDir(), "orders.json")
	if err := os.WriteFile(file, []byte(dump()), 0o644); err != nil {
		t.Fatal(err)
	}
	b.open(views["census"])
	b.do(chromedp.SetUploadFiles("#file", []string{file}), chromedp.Click("[data-upload] button"))
	b.await(`document.querySelector('.report')`)
	b.do(chromedp.Evaluate[chromedp.Void](axe))
	b.look("census-report")

	// The check itself works: it finds what is plainly wrong.
	b.open(views["range"])
	b.do(chromedp.WaitVisible("main h1"), chromedp.Evaluate[chromedp.Void](axe))
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('main').innerHTML = '<img src="/favicon.ico"><input>'; 0`))
	if found := eval[[]fault](b, findFaults(allRules)); len(found) == 0 {
		t.Error("an image without a text and a field without a label are not found")
	}
}
