//go:build !js

package pure_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/oidkit/oid/internal/testenv"
)

// The test for WebAssembly in zone_js_test.go passes in Chromium.
func TestZonesInChromium(t *testing.T) {
	testenv.Long(t, "compiles a test for WebAssembly")
	ctx := testenv.Chromium(t)
	folder := t.TempDir()
	build := exec.Command("go", "test", "-c", "-o", filepath.Join(folder, "test.wasm"), ".")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	root := testenv.Must(exec.Command("go", "env", "GOROOT").Output())(t)
	files := http.NewServeMux()
	files.Handle("/", http.FileServer(http.Dir(folder)))
	files.Handle("/wasm/", http.StripPrefix("/wasm/", http.FileServer(http.Dir(filepath.Join(strings.TrimSpace(string(root)), "lib/wasm")))))
	files.HandleFunc("/start", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<script src="wasm/wasm_exec.js"></script><script>
			const go = new Go(), decoder = new TextDecoder()
			let text = ''
			fs.writeSync = (file, bytes) => { text += decoder.decode(bytes); return bytes.length }
			go.argv = ['test', '-test.v', '-test.short']
			go.exit = (code) => { document.title = code + ' ' + text }
			WebAssembly.instantiateStreaming(fetch('test.wasm'), go.importObject).then(({instance}) => go.run(instance))
		</script>`)
	})
	server := httptest.NewServer(files)
	defer server.Close()
	if err := chromedp.Do(ctx, chromedp.Navigate(server.URL+"/start")); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		title, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.title"))
		if err != nil || time.Now().After(end) {
			t.Fatalf("%q, %v", title, err)
		}
		if title != "" {
			if !strings.HasPrefix(title, "0 ") || !strings.Contains(title, "--- PASS: TestZonesOfTheBrowser") {
				t.Error(title)
			}
			return
		}
	}
}
