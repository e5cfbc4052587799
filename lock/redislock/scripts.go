package redislock

import (
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
)

// script is a Lua script and the digest by which Redis knows it once it has
// seen it.
type script struct{ text, sha1 string }

func newScript(text string) script {
	sum := sha1.Sum([]byte(text))
	return script{text, hex.EncodeToString(sum[:])}
}

//go:embed scripts/prelude.lua
var preludeText string

//go:embed scripts/acquire.lua
var acquireText string

//go:embed scripts/renew.lua
var renewText string

//go:embed scripts/release.lua
var releaseText string

//go:embed scripts/status.lua
var statusText string

var (
	acquireScript = newScript(preludeText + acquireText)
	renewScript   = newScript(preludeText + renewText)
	releaseScript = newScript(preludeText + releaseText)
	statusScript  = newScript(statusText)
)
