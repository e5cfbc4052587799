package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// compress returns a handler that compresses what h answers, for clients that accept
// it. Ids are random and not worth it, and an event must not wait for more of them.
func compress(h http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.ContentTypes([]string{
		"application/json", "application/problem+json", "application/openapi+json", "application/vnd.oai.openapi+json",
		"text/html", "text/css", "text/javascript", "image/svg+xml", "text/plain",
	}))
	if err != nil {
		panic(err) // the options are constants
	}
	compressed := wrap(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/v1/ids" || r.URL.Path == "/events" {
			h.ServeHTTP(w, r)
			return
		}
		compressed.ServeHTTP(w, r)
	})
}

// isLasting reports whether the answer to r changes seldom or never: the description
// of the API, and the report of a census.
func isLasting(r *http.Request) bool {
	return r.Method == http.MethodGet && (strings.HasPrefix(r.URL.Path, "/openapi") || strings.HasPrefix(r.URL.Path, "/census/"))
}

// tag returns a handler that gives answers of h that last an ETag. A client that has
// such an answer already is told so in place of it.
func tag(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLasting(r) {
			h.ServeHTTP(w, r)
			return
		}
		whole := &wholeAnswer{ResponseWriter: w, code: http.StatusOK}
		h.ServeHTTP(whole, r)
		if whole.code == http.StatusOK {
			sum := sha256.Sum256(whole.body.Bytes())
			etag := `"` + hex.EncodeToString(sum[:12]) + `"`
			w.Header().Set("ETag", etag)
			w.Header().Set("Cache-Control", "private, no-cache") // to be kept, and asked for again
			if strings.Contains(strings.ReplaceAll(r.Header.Get("If-None-Match"), "-gzip", ""), etag) {
				w.Header().Del("Content-Type")
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		w.WriteHeader(whole.code)
		_, _ = whole.body.WriteTo(w) // the client may have disconnected
	})
}

// wholeAnswer keeps an answer until it is complete.
type wholeAnswer struct {
	http.ResponseWriter
	code int
	body bytes.Buffer
}

func (a *wholeAnswer) WriteHeader(code int) { a.code = code }

func (a *wholeAnswer) Write(p []byte) (int, error) { return a.body.Write(p) }
