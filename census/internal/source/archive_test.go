package source_test

import (
	"bytes"
	"fmt"
	"hash/crc64"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

// archive is an archive of mongodump in the making.
type archive struct {
	bytes.Buffer
	t      testing.TB
	sums   map[string]uint64 // of the collections, see [archive.body]
	bodies [][2]int          // where the documents of collections begin and end
}

const terminator = "\xff\xff\xff\xff"

func newArchive(t testing.TB) *archive {
	a := &archive{t: t, sums: map[string]uint64{}}
	a.WriteString("\x6d\xe2\x99\x81")
	a.document(bson.D{{Key: "concurrent_collections", Value: int32(4)}, {Key: "version", Value: "0.1"}, {Key: "server_version", Value: "7.0.2"}, {Key: "tool_version", Value: "100.9.4"}})
	return a
}

func (a *archive) document(d bson.D) []byte {
	b, err := bson.Marshal(d)
	if err != nil {
		a.t.Fatal(err)
	}
	a.Write(b)
	return b
}

// header begins a part of shop.name, or ends the collection.
func (a *archive) header(name string, eof bool) {
	sum := uint64(0)
	if eof {
		sum = a.sums[name]
	}
	a.document(bson.D{{Key: "db", Value: "shop"}, {Key: "collection", Value: name}, {Key: "EOF", Value: eof}, {Key: "CRC", Value: int64(sum)}})
}

// body adds a document to the part of shop.name that header has begun.
func (a *archive) body(name string, d bson.D) {
	from := a.Len()
	a.sums[name] = crc64.Update(a.sums[name], crc64.MakeTable(crc64.ECMA), a.document(d))
	a.bodies = append(a.bodies, [2]int{from, a.Len()})
}

// prelude adds the metadata of shop.name.
func (a *archive) prelude(name string, metadata string, more ...bson.E) {
	a.document(append(bson.D{{Key: "db", Value: "shop"}, {Key: "collection", Value: name}, {Key: "metadata", Value: metadata}, {Key: "size", Value: int32(0)}}, more...))
}

// data adds n documents of shop.name, and its end.
func (a *archive) data(name string, n int, end bool) {
	a.header(name, false)
	for range n {
		a.body(name, bson.D{{Key: "_id", Value: objectid.New()}})
	}
	a.WriteString(terminator)
	if end {
		a.header(name, true)
		a.WriteString(terminator)
	}
}

// TestDamagedArchive flips single bits of an archive. Each flip in a document is an error,
// and so is each that changes what is counted. Those that are not seen are in the names of
// fields, the ends of strings and the metadata: of their bits mongodump writes no checksum.
func TestDamagedArchive(t *testing.T) {
	testenv.Long(t, "reads large files")
	a := newArchive(t)
	a.prelude("orders", "{}")
	a.prelude("users", "{}")
	a.WriteString(terminator)
	a.data("orders", 12, false)
	a.data("users", 3, true)
	a.data("orders", 13, true)
	r, err := read(t, bytes.NewReader(a.Bytes()), nil)
	if err != nil || r.IDs != 28 {
		t.Fatalf("%d ids, %v", r.IDs, err)
	}
	flips, unseen := 0, 0
	for bit := 0; bit < 8*a.Len(); bit += 61 {
		data := bytes.Clone(a.Bytes())
		data[bit/8] ^= 1 << (bit % 8)
		flips++
		got, err := read(t, bytes.NewReader(data), nil)
		if err != nil {
			continue
		}
		unseen++
		inDocument := slices.ContainsFunc(a.bodies, func(b [2]int) bool { return b[0] <= bit/8 && bit/8 < b[1] })
		if inDocument || got.IDs != 28 || len(got.Sources) != len(r.Sources) {
			t.Errorf("bit %d of byte %d: no error, %d ids: %q", bit%8, bit/8, got.IDs, data[max(bit/8-30, 0):bit/8+10])
		}
	}
	t.Logf("%d of %d flips are not seen", unseen, flips)
}

// TestChecksums reads archives in which a checksum is wrong or absent. What was read
// counts, and the error names the collections.
func TestChecksums(t *testing.T) {
	write := func(wrong ...string) []byte {
		a := newArchive(t)
		a.WriteString(terminator)
		for _, name := range []string{"orders", "users", "logs"} {
			if slices.Contains(wrong, name) {
				a.sums[name] = 1
			}
			a.data(name, 3, true)
		}
		return a.Bytes()
	}
	const end = "documents of these collections are not what mongodump wrote: %s"
	for _, test := range []struct {
		name, only string
		data       []byte
		ids        int64
		names      string
	}{
		{"sound", "", write(), 9, ""},
		{"one", "", write("users"), 9, "shop.users"},
		{"two", "", write("orders", "logs"), 9, "shop.orders, shop.logs"},
		{"compressed", "", zipped(write("users")), 9, "shop.users"},
		{"that alone", "users", write("users"), 3, "shop.users"},
		{"another one", "orders", write("users"), 3, ""},
		{"without checksums", "", bytes.ReplaceAll(write("users"), []byte("CRC\x00"), []byte("CRX\x00")), 9, ""},
	} {
		r, err := read(t, bytes.NewReader(test.data), &census.Options{Collection: test.only})
		if r.IDs != test.ids || (err == nil) != (test.names == "") || err != nil && !strings.HasSuffix(err.Error(), fmt.Sprintf(end, test.names)) {
			t.Errorf("%s: %d ids, %v", test.name, r.IDs, err)
		}
	}
}

// A field of a header with a value of another type is an error that names the field.
func TestArchiveHeaderTypes(t *testing.T) {
	for field, value := range map[string]any{"db": int32(1), "collection": true, "EOF": "yes", "CRC": 1.5, "metadata": bson.D{}, "type": bson.A{}} {
		a := newArchive(t)
		a.WriteString(terminator)
		header := bson.D{{Key: "db", Value: "shop"}, {Key: "collection", Value: "orders"}, {Key: "EOF", Value: true}, {Key: "CRC", Value: int64(0)}}
		header = slices.DeleteFunc(header, func(e bson.E) bool { return e.Key == field })
		a.document(append(header, bson.E{Key: field, Value: value}))
		a.WriteString(terminator)
		if _, err := read(t, &a.Buffer, nil); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("field %q: a value of type ", field)) {
			t.Errorf("%s %v: %v", field, value, err)
		}
	}
	a := newArchive(t)
	a.WriteString(terminator)
	a.document(bson.D{{Key: "db", Value: "shop"}, {Key: "collection", Value: "orders"}, {Key: "EOF", Value: true}, {Key: "CRC", Value: nil}, {Key: "new", Value: 1.5}})
	a.WriteString(terminator)
	if _, err := read(t, &a.Buffer, nil); err != nil {
		t.Errorf("without a checksum and with a field that is not known: %v", err)
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
		want := fmt.Sprintf("the archive ends within these collections: %s", test.cut)
		if test.cut == "" && err != nil || test.cut != "" && (err == nil || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("%s: %v, want collections without an end: %q", test.name, err, test.cut)
		}
	}
}

// TestEmptyFiles reads files without a single byte.
func TestEmptyFiles(t *testing.T) {
	for name, empty := range map[string]bool{
		"dump/shop/orders.bson": true, "orders.bson.gz": true, "orders.bson.zst": true, "orders.json": true, "x.ndjson": true, "x.jsonl": true,
		"orders": false, "orders.csv": false, "bson": false, "orders.bson.xz": true, "orders.bson.7z": false, "standard input": false,
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
