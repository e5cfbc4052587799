//go:build !js

package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"path"
	"slices"
	"sync"

	"github.com/oidkit/oid/internal/report"
)

//go:embed static
var files embed.FS

// Asset is a file that the pages load.
type Asset struct {
	Type string // MIME type
	Tag  string // hash of the content
	Data []byte
}

// Assets returns all assets by name.
var Assets = sync.OnceValue(func() map[string]Asset {
	out := map[string]Asset{}
	entries, _ := files.ReadDir("static") // the files are part of the program
	for _, e := range entries {
		data, _ := files.ReadFile("static/" + e.Name())
		switch e.Name() {
		case "page.css":
			data = append([]byte(report.Style()), data...)
		case "page.js": // clock.js comes before it, by name as well
			data = slices.Concat(out["clock.js"].Data, data)
		}
		sum := sha256.Sum256(data)
		out[e.Name()] = Asset{mime.TypeByExtension(path.Ext(e.Name())), hex.EncodeToString(sum[:6]), data}
	}
	return out
})

// Path returns the path of an asset. It contains the hash of the content, so that browsers
// can cache the asset forever.
func Path(name string) string { return "/static/" + Assets()[name].Tag + "/" + name }
