package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/internal/testenv"
)

// The ObjectId for JavaScript keeps all promises in Node, also the order.
func TestVerifyJavaScriptInNode(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		testenv.Missing(t, "no Node.js: apt-get install nodejs")
	}
	library, err := filepath.Abs("../../js")
	if err != nil {
		t.Fatal(err)
	}
	modules := t.TempDir()
	if err := os.Mkdir(filepath.Join(modules, "@oidkit"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(library, filepath.Join(modules, "@oidkit", "objectid")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NODE_PATH", modules)
	for _, flags := range []string{
		"--ids 2000", "--order --ids 30000 --copies 1 --clock back", "--order --ids 30000 --copies 1 --clock forward",
		"--order --ids 30000 --copies 1 --clock wrap", "--order --ids 30000 --copies 1 --clock end", "--decode",
	} {
		t.Run(flags, func(t *testing.T) {
			command := []string{"node", "adapters/node.js", "@oidkit/objectid"}
			if v, broken, code := judged(t, flags, command); broken != nil || code != 0 {
				t.Errorf("broken %v, exit code %d: %+v", broken, code, v.Promises)
			}
		})
	}
	if criuMissing() != "" {
		return
	}
	for hook, want := range map[string]string{"": "own-value", "hook": ""} {
		if _, got, _ := resumedBreaks(t, []string{"node", "adapters/node.js", "@oidkit/objectid", hook}); got != want {
			t.Errorf("verify --resume, %q: broken %q, want %q", hook, got, want)
		}
	}
}

// It keeps them in a browser, where each tab is a process.
func TestVerifyJavaScriptInChromium(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		testenv.Missing(t, "no curl: apt-get install curl")
	}
	browser := testenv.Chromium(t)
	mux := http.NewServeMux()
	mux.Handle("GET /js/", http.StripPrefix("/js/", http.FileServer(http.Dir("../../js"))))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<script type="module">
			import { ObjectId } from '/js/objectid.js'
			window.create = (n) => Array.from({ length: n }, () => ObjectId.generate() + '\n').join('')
		</script>`)
	})
	server := httptest.NewUnstartedServer(mux)
	mux.HandleFunc("GET /ids", func(w http.ResponseWriter, r *http.Request) {
		tab, cancel := chromedp.NewContext(browser)
		defer cancel()
		if err := chromedp.Do(tab, chromedp.Navigate(server.URL)); err != nil {
			t.Error(err)
			return
		}
		for r.Context().Err() == nil {
			ids, err := chromedp.Run(tab, chromedp.Evaluate[string]("create(500)"))
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := fmt.Fprint(w, ids); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	})
	server.Start()
	defer server.Close()
	v, broken, code := judged(t, "--order --ids 5000", []string{"curl", "--silent", "--no-buffer", server.URL + "/ids"})
	if broken != nil || code != 0 || v.IDs < 10000 {
		t.Errorf("broken %v, exit code %d, %d ids: %+v", broken, code, v.IDs, v.Promises)
	}
	if err := chromedp.Do(browser, chromedp.Navigate(server.URL)); err != nil {
		t.Fatal(err)
	}
	rises, err := chromedp.Run(browser, chromedp.Evaluate[bool](`(async () => {
		const { ObjectId } = await import('/js/objectid.js')
		const now = Date.now()
		const ids = [0, 3600e3, -3600e3, -1, NaN].map((step) => {
			Date.now = () => now + step
			return ObjectId.generate()
		})
		return ids.every((id, i) => i === 0 || ObjectId.compare(ids[i - 1], id) < 0)
	})()`, chromedp.EvalAwaitPromise))
	if err != nil || !rises {
		t.Errorf("under a clock that is set, ids increase: %v, %v", rises, err)
	}
}
