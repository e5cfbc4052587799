package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"path"
	"sync"

	"github.com/oidkit/oid/census/report"
)

//go:embed static
var files embed.FS

// Asset is a file that the pages load.
type Asset struct {
	Type string // MIME type
	Tag  string // hash of the content
	Data []byte
}

// Assets returns the files by name.
var Assets = sync.OnceValue(func() map[string]Asset {
	out := map[string]Asset{}
	entries, err := fs.ReadDir(files, "static")
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, e := range entries {
		data, err := files.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err)
		}
		if e.Name() == "page.css" {
			data = append([]byte(report.Style()), data...)
		}
		sum := sha256.Sum256(data)
		out[e.Name()] = Asset{mime.TypeByExtension(path.Ext(e.Name())), hex.EncodeToString(sum[:6]), data}
	}
	return out
})

// Path returns the path of a file. It contains the hash of the content, so that browsers
// can cache the file.
func Path(name string) string { return "/static/" + Assets()[name].Tag + "/" + name }
