// Command site is the program of the static page, which makes in the browser what "oid serve"
// makes on a server. "make site" builds it for WebAssembly, with the page around it, into a
// folder that any web server can serve.
package main

import (
	"strings"
	"syscall/js"
	"time"

	"github.com/oidkit/oid/internal/page"
)

// main gives the scripts of the page the function oidPage(address, form, zone), see
// [page.Site.Answer], and then calls their function oidReady.
func main() {
	site := &page.Site{Static: true}
	if document := js.Global().Get("document"); document.Truthy() {
		site.Lang = document.Get("documentElement").Get("lang").String()
		if docs := document.Call("querySelector", "nav a:not([data-key])"); docs.Truthy() {
			site.Docs = docs.Call("getAttribute", "href").String()
		}
	}
	js.Global().Set("oidPage", js.FuncOf(func(_ js.Value, args []js.Value) any {
		f, address := site.Answer(args[0].String(), args[1].String(), args[2].String(), time.Now().UTC())
		var html strings.Builder
		_ = f.Contents.Render(&html) // to memory, without errors
		return map[string]any{"title": f.Title + " · oid", "address": address, "html": html.String()}
	}))
	js.Global().Call("oidReady")
	select {} // the function lives as long as the page
}
