package testenv

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Chromium starts a browser without a window and returns a context for package
// chromedp, whose tab is blank. Further tabs are made of it with
// chromedp.NewContext. The browser ends with the test. It also gets the options more.
func Chromium(t testing.TB, more ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	Long(t, "starts a browser")
	// Debian's wrapper would outlive the browser when it is killed.
	path := "/usr/lib/chromium/chromium-headless-shell"
	if _, err := os.Stat(path); err != nil {
		for _, name := range []string{"chromium-headless-shell", "chromium", "google-chrome"} {
			if path, err = exec.LookPath(name); err == nil {
				break
			}
		}
		if err != nil {
			Missing(t, "no Chromium: apt-get install chromium-headless-shell")
		}
	}
	ctx, cancel := chromedp.NewContext(t.Context(), chromedp.WithAllocatorOptions(append([]chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.Env("TZ=UTC"), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("disable-background-networking", true),
	}, more...)...))
	t.Cleanup(func() {
		// A browser that does not end by itself is killed with the context.
		stop, done := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer done()
		_ = chromedp.Cancel(stop)
		cancel()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return ctx
}
