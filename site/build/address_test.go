package main

import (
	"strconv"
	"strings"
	"testing"
)

// where is what a visitor sees of the place of a view: the address, the title, the marked link
// of the navigation, and what went wrong.
const where = `[location.hash, document.title.replace(' · oid', ''), document.querySelector('nav [aria-current]')?.textContent ?? 'no view', document.querySelector('#trouble:not([hidden])')?.textContent ?? ''].join(' | ')`

// contents is the text of the view.
const contents = `document.querySelector('main').innerText`

// typed fills in a field, as somebody who types does.
func (b tab) typed(id, text string) {
	b.Helper()
	b.eval(`(() => { const e = document.getElementById('` + id + `'); e.value = ` + strconv.Quote(text) + `; e.dispatchEvent(new Event('input', { bubbles: true })); })()`)
}

func (b tab) click(selector string) {
	b.Helper()
	b.eval(`document.querySelector('` + selector + `').click()`)
}

// The address, the title and the navigation follow what is shown, and the buttons of the
// browser lead back and forward.
func TestAddressFollows(t *testing.T) {
	s := serve(t)
	b := open(t, s.URL+"/a/b/#id=507f1f77bcf86cd799439011")
	b.await(where, "#id=507f1f77bcf86cd799439011 | 507f1f77bcf86cd799439011 | Ids | ")
	b.await(`document.querySelectorAll('.made-ids li').length`, "5")
	b.typed("id", "507f1f77bcf86cd799439011, 507f1f77bcf86cd799439012.")
	b.await(where, "#id=507f1f77bcf86cd799439011%2C%20507f1f77bcf86cd799439012%2E | MongoDB ObjectId to timestamp")
	b.click(`nav a[href="#range"]`)
	b.await(where, "#range | Range | Ranges | ")
	b.typed("from", "2026-11-01")
	b.typed("to", "2026-12-01")
	b.await(where, "#range=2026-11-01/2026-12-01")
	b.await(contents, "6ae681000000000000000000")
	b.eval(`history.back()`)
	b.await(where, "#id=507f1f77bcf86cd799439011%2C%20507f1f77bcf86cd799439012%2E | MongoDB ObjectId to timestamp converter and generator | Ids | ")
	b.await(`document.getElementById('id').value`, "507f1f77bcf86cd799439012.")
	b.eval(`history.forward()`)
	b.await(contents, "6ae681000000000000000000")
	b.await(where, " | Range | Ranges | ")
	b.click(`nav a[href="#odds"]`)
	b.await(where, "#odds | Odds | Odds | ")
	b.typed("processes", "0.5")
	b.await(where, "#odds=0.5&")
	b.await(contents, "want a whole number")
	b.click(`.brand`)
	b.await(contents, "Copy all")
	b.await(where, " | MongoDB ObjectId to timestamp converter and generator | Ids | ")
	b.eval(`scrollTo(0, 1e6)`) // a view begins at its heading
	b.click(`#now a`)
	b.await(`location.hash + ' ' + scrollY`, "#range=24h 0")
	b.eval(`history.back()`)
	b.await(contents, "Copy all")
	made := b.eval(`document.querySelector('.made-ids li').dataset.copy`)
	b.click(`form[data-new] button`)
	b.await(`document.querySelector('.made-ids li').dataset.copy !== '`+made+`'`, "true")
	b.click(`.skip`) // its link, #main, must not be read as a view
	b.await(`document.activeElement.id + location.hash`, "main")
	b.typed("id", strings.Repeat("507f1f77bcf86cd799439011 ", 400)) // too long for a link
	b.await(contents, "400 ids")
	if got := b.eval(`location.hash`); got != "" {
		t.Errorf("the address is %.100s", got)
	}
	for fragment, want := range map[string]string{
		"#range=24h": "#range=24h | Range | Ranges | ", "#census": "#census | Census | Census | ", "#new": " | MongoDB ObjectId", "#507f1f77bcf86cd799439011": "#id=507f1f77bcf86cd799439011 | 507f1f77",
		"#range=2026-11-01T10:00/+2h&tz=Asia/Shanghai": "#range=2026-11-01T10:00/%2B2h&tz=Asia%2FShanghai | Range",
		"#id=%3Cimg src=x onerror=alert(1)%3E":         "#id=%3Cimg%20src%3Dx%20onerror%3Dalert%281%29%3E | MongoDB",
	} {
		b.eval(`location.hash = ` + strconv.Quote(fragment))
		b.await(where, want)
	}
}
