package page_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/page"
)

// Each view of the static page has one fragment, which leads back to the view.
func TestFragments(t *testing.T) {
	static, served := &page.Site{Static: true, Base: "../"}, &page.Site{Base: "/oid"}
	for path, fragment := range map[string]string{
		"/":                               "#",
		"/?id=507f1f77bcf86cd799439011":   "#id=507f1f77bcf86cd799439011",
		"/?id=ObjectId%28%22507f%22%29":   "#id=ObjectId%28%22507f%22%29",
		"/?id=a+b%0Ac%2Bd%26e%3Df%23g%25": "#id=a%20b%0Ac%2Bd%26e%3Df%23g%25",
		"/?id=%3Cb%3E%27%E4%BD%A0":        "#id=%3Cb%3E%27%E4%BD%A0",
		"/?id=the+end.":                   "#id=the%20end%2E",
		"/range":                          "#range",
		"/range?since=24h":                "#range=24h",
		"/range?since=20%2FNov%2F2026":    "#range=20%2FNov%2F2026",
		"/range?from=2026-11-01T10%3A00%3A00%2B01%3A00&to=%2B2h": "#range=2026-11-01T10:00:00%2B01:00/%2B2h",
		"/range?from=-7d":                        "#range=-7d/",
		"/range?to=now":                          "#range=/now",
		"/range?column=c&tz=Europe%2FBerlin":     "#range&column=c&tz=Europe%2FBerlin",
		"/range?column=c&from=A&process=bc&to=B": "#range=A/B&column=c&process=bc",
		"/range?from=A&since=24h":                "#range=24h&from=A",
		"/odds":                                  "#odds",
		"/odds?processes=1e6&rate=0.1":           "#odds=1e6&rate=0.1",
		"/odds?layout=driver&over=1d":            "#odds&layout=driver&over=1d",
		"/census":                                "#census",
		"/new":                                   "#new",
	} {
		if got := static.URL(path); got != "../"+fragment {
			t.Errorf("the static page shows %s as %s, want ../%s", path, got, fragment)
		}
		if got := served.URL(path); got != "/oid"+path {
			t.Errorf("the server shows %s as %s", path, got)
		}
		if back, q := page.Address(fragment); strings.TrimSuffix(back+"?"+q.Encode(), "?") != path {
			t.Errorf("%s is read as %s?%s, want %s", fragment, back, q.Encode(), path)
		}
		if same, q := page.Address(path); strings.TrimSuffix(same+"?"+q.Encode(), "?") != path {
			t.Errorf("%s is read as %s?%s", path, same, q.Encode())
		}
	}
}

// What people and forms write is read, although no link of the page is written like that.
func TestFragmentsThatPeopleType(t *testing.T) {
	for fragment, want := range map[string]string{
		`#id=ObjectId("507f1f77bcf86cd799439011")`: "/?id=ObjectId%28%22507f1f77bcf86cd799439011%22%29",
		"#507f1f77bcf86cd799439011":                "/?id=507f1f77bcf86cd799439011",
		"#id=1+1":                                  "/?id=1%2B1",
		"#id=100%":                                 "/?id=100%25",
		"#id=":                                     "/",
		"#id":                                      "/",
		"#?id=a+b":                                 "/?id=a+b",
		"#range?from=&to=now&tz=":                  "/range?to=now",
		"#range=/":                                 "/range",
		"#range=2026-11-01/2026-12-01&tz=Asia/Shanghai": "/range?from=2026-11-01&to=2026-12-01&tz=Asia%2FShanghai",
		"#range&&=&column":              "/range",
		"#odds?processes=5&processes=6": "/odds?processes=5",
		"#census=x":                     "/census",
		"#nonsense=5":                   "/?id=nonsense%3D5",
		"#a&b=507f1f77bcf86cd799439011": "/?id=a%26b%3D507f1f77bcf86cd799439011",
		"":                              "",
	} {
		if path, q := page.Address(fragment); strings.TrimSuffix(path+"?"+q.Encode(), "?") != want {
			t.Errorf("%s is read as %s?%s, want %s", fragment, path, q.Encode(), want)
		}
	}
}

// FuzzAddress reads any fragment, and the link to what was read leads there.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{"#", "#id=1.", "#range=a/b/c&d", "#range?from=%2F&since=/", "#odds==&=", "#%zz", "#id=%", "/range?since=24h;x"} {
		f.Add(s)
	}
	site := &page.Site{Static: true}
	f.Fuzz(func(t *testing.T, s string) {
		path, q := page.Address(s)
		if !strings.HasPrefix(s, "#") {
			path = "/"
		}
		link := site.URL(path + "?" + q.Encode())
		if path == "/" && !q.Has("id") && len(q) == 0 {
			q = url.Values{}
		}
		back, again := page.Address(link)
		if back != path || again.Encode() != q.Encode() {
			t.Errorf("%q is %s?%s, and its link %s is %s?%s", s, path, q.Encode(), link, back, again.Encode())
		}
		if strings.ContainsAny(link, " \"'<>()\n") || strings.HasSuffix(link, ".") {
			t.Errorf("chats and e-mail would cut off %s", link)
		}
	})
}
