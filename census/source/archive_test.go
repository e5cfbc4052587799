package source_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/objectid"
)

// archive is an archive of mongodump in the making.
type archive struct {
	bytes.Buffer
	t testing.TB
}

const terminator = "\xff\xff\xff\xff"

func newArchive(t testing.TB) *archive {
	a := &archive{t: t}
	a.WriteString("\x6d\xe2\x99\x81")
	a.document(bson.D{{Key: "concurrent_collections", Value: int32(4)}, {Key: "version", Value: "0.1"}, {Key: "server_version", Value: "7.0.2"}, {Key: "tool_version", Value: "100.9.4"}})
	return a
}

func (a *archive) document(d bson.D) {
	b, err := bson.Marshal(d)
	if err != nil {
		a.t.Fatal(err)
	}
	a.Write(b)
}

// prelude adds the metadata of shop.name.
func (a *archive) prelude(name string, metadata string, more ...bson.E) {
	a.document(append(bson.D{{Key: "db", Value: "shop"}, {Key: "collection", Value: name}, {Key: "metadata", Value: metadata}, {Key: "size", Value: int32(0)}}, more...))
}

// data adds n documents of shop.name, and its end.
func (a *archive) data(name string, n int, end bool) {
	header := func(eof bool) {
		a.document(bson.D{{Key: "db", Value: "shop"}, {Key: "collection", Value: name}, {Key: "EOF", Value: eof}, {Key: "CRC", Value: int64(0)}})
	}
	header(false)
	for range n {
		a.document(bson.D{{Key: "_id", Value: objectid.New()}})
	}
	a.WriteString(terminator)
	if end {
		header(true)
		a.WriteString(terminator)
	}
}

// TestArchiveWithoutData reads archives with entries for which mongodump writes no data:
// a view, and a time-series collection, whose data are its buckets.
func TestArchiveWithoutData(t *testing.T) {
	kind := func(k string) bson.E { return bson.E{Key: "type", Value: k} }
	const view, series = `{"options":{"viewOn":"orders","pipeline":[]}}`, `{"options":{"timeseries":{"timeField":"t"}}}`
	for _, test := range []struct {
		name  string
		write func(a *archive)
		only  string
		ids   int64
		cut   string // collections that do not end, if some do not
	}{
		{"a view", func(a *archive) {
			a.prelude("recent", view, kind("view"))
			a.prelude("orders", "{}", kind("collection"))
			a.WriteString(terminator)
			a.data("orders", 3, true)
		}, "", 3, ""},
		{"a view of an older mongodump", func(a *archive) {
			a.prelude("recent", view)
			a.WriteString(terminator)
		}, "", 0, ""},
		{"a collection without an end", func(a *archive) {
			a.prelude("recent", view, kind("collection"))
			a.WriteString(terminator)
		}, "", 0, "shop.recent"},
		{"a collection that says nothing", func(a *archive) {
			a.prelude("recent", "nonsense")
			a.WriteString(terminator)
		}, "", 0, "shop.recent"},
		{"a time series", func(a *archive) {
			a.prelude("weather", series, kind("timeseries"))
			a.WriteString(terminator)
			a.data("system.buckets.weather", 2, false)
			a.data("system.buckets.weather", 2, true)
		}, "", 4, ""},
		{"only a time series", func(a *archive) {
			a.prelude("weather", series, kind("timeseries"))
			a.prelude("orders", "{}", kind("collection"))
			a.WriteString(terminator)
			a.data("system.buckets.weather", 2, true)
			a.data("orders", 3, true)
		}, "weather", 2, ""},
		{"a time series of MongoDB 8.3", func(a *archive) {
			a.prelude("weather", series, kind("timeseries"))
			a.WriteString(terminator)
			a.data("weather", 2, true)
		}, "", 2, ""},
		{"a time series that is cut off", func(a *archive) {
			a.prelude("weather", series, kind("timeseries"))
			a.WriteString(terminator)
			a.data("system.buckets.weather", 2, false)
		}, "", 2, "shop.weather"},
		{"a time series without buckets", func(a *archive) {
			a.prelude("weather", series, kind("timeseries"))
			a.WriteString(terminator)
		}, "", 0, "shop.weather"},
		{"a collection that the prelude lacks", func(a *archive) {
			a.WriteString(terminator)
			a.data("orders", 2, false)
		}, "", 2, "shop.orders"},
	} {
		a := newArchive(t)
		test.write(a)
		r, err := read(t, bytes.NewReader(a.Bytes()), &census.Options{Collection: test.only})
		if r.IDs != test.ids {
			t.Errorf("%s: %d ids, want %d", test.name, r.IDs, test.ids)
		}
		want := fmt.Sprintf("the archive ends before its collections do: %s", test.cut)
		if test.cut == "" && err != nil || test.cut != "" && (err == nil || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("%s: %v, want collections without an end: %q", test.name, err, test.cut)
		}
	}
}

// TestEmptyFiles reads files without a single byte.
func TestEmptyFiles(t *testing.T) {
	for name, empty := range map[string]bool{
		"dump/shop/orders.bson": true, "orders.bson.gz": true, "orders.bson.zst": true, "orders.json": true, "x.ndjson": true, "x.jsonl": true,
		"orders": false, "orders.csv": false, "bson": false, "orders.bson.xz": false, "standard input": false,
	} {
		for how, data := range map[string][]byte{"plain": nil, "gzip": zipped(nil), "zstd": zstandard(nil)} {
			c := census.New(nil)
			err := c.Read(t.Context(), name, bytes.NewReader(data))
			if (err == nil) != empty {
				t.Errorf("%s, %s: %v, want an empty collection: %v", name, how, err, empty)
			}
		}
	}
	c := census.New(&census.Options{Format: "list"})
	if err := c.Read(t.Context(), "orders.bson", bytes.NewReader(nil)); err == nil {
		t.Error("an empty .bson is a list")
	}
}
