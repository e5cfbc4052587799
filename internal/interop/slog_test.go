package interop

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/oidkit/oid/objectid"
)

func TestSlog(t *testing.T) {
	const sample = "507f1f77bcf86cd799439011"
	id := objectid.MustParse(sample)
	options := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	var text, json bytes.Buffer
	for _, h := range []slog.Handler{slog.NewTextHandler(&text, options), slog.NewJSONHandler(&json, options)} {
		slog.New(h).Info("made", "id", id, "ptr", &id, "none", objectid.ID{}, slog.Group("g", "id", id), "list", []objectid.ID{id})
	}
	if got, want := text.String(), "level=INFO msg=made id="+sample+" ptr="+sample+" none=<nil> g.id="+sample+" list=["+sample+"]\n"; got != want {
		t.Errorf("text: %s, want %s", got, want)
	}
	if got, want := json.String(), `{"level":"INFO","msg":"made","id":"`+sample+`","ptr":"`+sample+`","none":null,"g":{"id":"`+sample+`"},"list":["`+sample+`"]}`+"\n"; got != want {
		t.Errorf("JSON: %s, want %s", got, want)
	}
}
