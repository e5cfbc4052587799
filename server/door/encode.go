package door

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// Encode returns a handler that sends the answers of do: with an ETag if validated is set,
// and compressed unless plain is set.
func Encode(do http.HandlerFunc, validated, plain bool) http.Handler {
	var h http.Handler = do
	if validated {
		h = tag(h)
	}
	if !plain {
		h = compress()(h)
	}
	return h
}

// compress returns a handler that compresses what h answers, for clients that accept
// it.
var compress = sync.OnceValue(func() func(http.Handler) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.ContentTypes([]string{
		"application/json", "application/problem+json", "application/openapi+json", "application/vnd.oai.openapi+json",
		"text/html", "text/css", "text/javascript", "image/svg+xml", "text/plain",
	}))
	if err != nil {
		panic(err) // the options are constants
	}
	return wrap
})

// tag returns a handler that gives the answers of h an ETag. A client that has
// such an answer already is told so in place of it.
func tag(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		whole := &wholeAnswer{ResponseWriter: w, code: http.StatusOK}
		h.ServeHTTP(whole, r)
		if whole.code == http.StatusOK {
			sum := sha256.Sum256(whole.body.Bytes())
			w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:12])+`"`)
			w.Header().Set("Cache-Control", "private, no-cache") // to be kept, and asked for again
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(whole.body.Bytes()))
			return
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
