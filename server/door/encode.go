package door

import (
	"net/http"
	"sync"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// Compress returns the function that wraps a handler: its answers are compressed for
// clients that accept it.
var Compress = sync.OnceValue(func() func(http.Handler) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.ContentTypes([]string{
		"application/json", "application/problem+json", "application/openapi+json", "application/vnd.oai.openapi+json",
		"text/html", "text/css", "text/javascript", "image/svg+xml", "text/plain",
	}))
	if err != nil {
		panic(err) // the options are constants
	}
	return wrap
})
