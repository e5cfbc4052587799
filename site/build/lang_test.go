package main

import "testing"

// The link to the page in the other language leads to the same view, and the program and the
// scripts speak that language.
func TestLanguages(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := open(t, s.URL+"/a/b/index.html#id=507f1f77bcf86cd799439011")
	const label, place = `$('.says dt').textContent`, `location.pathname + location.hash`
	b.await(`String(!!globalThis.oidPage)`, "true")
	b.await(label, "Created")
	b.eval(`$('.lang').click()`)
	b.await(place, "/a/b/zh/index.html#id=507f1f77bcf86cd799439011")
	b.await(`String(!!globalThis.oidPage)`, "true")
	b.await(label, "生成时间")
	b.await(`$('.says button').textContent`, "复制")
	b.await(`decodeURI($('nav').lastElementChild.href)`, repository+"docs/README.md#中文")
	b.await(`$('.says a').href`, repository+"docs/deploy.md")
	b.await(`$('#new form button').textContent`, "生成")
	for expression, want := range map[string]string{
		`document.documentElement.lang`:                      "zh-CN",
		`ago(Date.UTC(2026, 0), Date.UTC(2026, 0, 1, 0, 3))`: "3分钟前",
		`ago(Date.UTC(2026, 9), Date.UTC(2026, 0))`:          "9个月后",
		`ago(0, 999)`:                "刚刚",
		`ago(0, 14 * 31556952000)`:   "14年前",
		`word('a text of no table')`: "a text of no table",
	} {
		if got := b.eval(expression); got != want {
			t.Errorf("%s = %q, want %q", expression, got, want)
		}
	}
	b.eval(`location.hash = '#range=7d'`)
	b.await(`$('h1').textContent`, "把时间范围变成查询条件")
	b.await(`document.title`, "时间范围 · oid")
	b.eval(`$('.lang').click()`)
	b.await(place, "/a/b/index.html#range=7d")
	b.await(`$('h1').textContent`, "A time range as a query")
}
