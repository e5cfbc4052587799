package redislock

import (
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"strings"
	"sync"
)

// script is a Lua script, and the SHA-1 digest by which Redis knows it.
type script struct{ text, sha1 string }

// newScript returns a function that puts a script together when it is first called.
func newScript(text string) func() script {
	return sync.OnceValue(func() script {
		text := strings.Replace(text, "-- include prelude.lua\n", preludeText, 1)
		sum := sha1.Sum([]byte(text))
		return script{text, hex.EncodeToString(sum[:])}
	})
}

var (
	//go:embed scripts/prelude.lua
	preludeText string
	//go:embed scripts/acquire.lua
	acquireText string
	//go:embed scripts/renew.lua
	renewText string
	//go:embed scripts/release.lua
	releaseText string
	//go:embed scripts/status.lua
	statusText string
	//go:embed scripts/guard.lua
	guardText string
	//go:embed scripts/note.lua
	noteText string
)

var (
	acquireScript = newScript(acquireText)
	renewScript   = newScript(renewText)
	releaseScript = newScript(releaseText)
	statusScript  = newScript(statusText)
	guardScript   = newScript(guardText)
	noteScript    = newScript(noteText)
)
