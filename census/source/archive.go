package source

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/oidkit/oid/internal/bsonwalk"
)

// archiveMagic begins every archive of mongodump.
const archiveMagic = "\x6d\xe2\x99\x81"

var (
	// errArchive is wrapped by the errors about the structure of an archive.
	errArchive = errors.New("census: not an archive of mongodump")

	// errDamaged is wrapped by the error for collections whose documents are not those
	// that mongodump wrote.
	errDamaged = errors.New("census: a checksum is wrong")
)

// ecma returns the table of the checksums in archives.
var ecma = sync.OnceValue(func() *crc64.Table { return crc64.MakeTable(crc64.ECMA) })

// readArchive emits the documents of an archive as mongodump --archive writes it:
//
//	magic | header | metadata of each collection ... | terminator
//	(collection | document ... | terminator) ...
//
// where all but the magic and the terminator are BSON documents. A collection may
// have several parts, with parts of others between them, and ends with a part without
// documents that has the checksum of all of them. A view has metadata alone,
// and the data of a time-series collection is that of its buckets, a collection
// without metadata. The format is described in common/archive/spec.md of the MongoDB
// Database Tools, the names of buckets in prelude.go there. Only the collection with
// the given name is read, or all if it is empty. After a wrong checksum reading goes on,
// and the error, which wraps errDamaged, names all such collections.
func readArchive(ctx context.Context, r *bsonReader, only string) error {
	if err := r.need(ctx, len(archiveMagic)); err != nil {
		return stopped(r.offset, err)
	}
	r.pass(len(archiveMagic))
	open, err := readPrelude(ctx, r)
	if err != nil {
		return stopped(r.offset, ended(err))
	}
	sums := map[string]uint64{}
	var damaged []string
	for {
		size, err := r.next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return stopped(r.offset, ended(err))
		}
		head, err := parseHeader(r.data[:size])
		if err != nil {
			return stopped(r.offset, err)
		}
		name := head.name
		r.skip = only != "" && !isNamed(name, only) && !isNamed(withData(name), only)
		r.pass(size)
		if head.eof {
			open.end(name)
			if !r.skip && head.hasSum && head.sum != sums[name] {
				damaged = append(damaged, name)
			}
			if _, err := r.next(ctx); err == nil {
				return stopped(r.offset, fmt.Errorf("%w: no terminator after collection %s", errArchive, name))
			} else if err != errTerminator {
				return stopped(r.offset, ended(err))
			}
			continue
		}
		open.begin(name)
		r.label, r.sum = name, sums[name]
		if err := r.read(ctx); err != errTerminator {
			if err == io.EOF {
				err = stopped(r.offset, ended(err))
			}
			return err
		}
		sums[name] = r.sum
	}
	if len(open) > 0 {
		names := slices.Sorted(maps.Keys(open))
		return stopped(r.offset, fmt.Errorf("%w: the archive ends before its collections do: %s", io.ErrUnexpectedEOF, strings.Join(names, ", ")))
	}
	if len(damaged) > 0 {
		return fmt.Errorf("%w: the documents of %s are not those that mongodump wrote", errDamaged, strings.Join(damaged, ", "))
	}
	return nil
}

// unended are the collections of an archive whose end has not been read.
type unended map[string]bool

func (u unended) begin(name string) {
	if !u[withData(name)] {
		u[name] = true
	}
}

func (u unended) end(name string) {
	delete(u, name)
	delete(u, withData(name))
}

// withData returns the name of the time-series collection whose data are in the
// collection called name, or name.
func withData(name string) string { return strings.Replace(name, ".system.buckets.", ".", 1) }

// isNamed reports whether name, which begins with a database, is the collection only.
func isNamed(name, only string) bool { return name == only || strings.HasSuffix(name, "."+only) }

// readPrelude passes the metadata and returns the collections that have data.
func readPrelude(ctx context.Context, r *bsonReader) (unended, error) {
	open := unended{}
	for first := true; ; first = false {
		size, err := r.next(ctx)
		if err == errTerminator {
			return open, nil
		}
		if err != nil {
			return nil, err
		}
		if !first {
			head, err := parseHeader(r.data[:size])
			if err != nil {
				return nil, err
			}
			if !isView(r.data[:size]) {
				open[head.name] = true
			}
		}
		r.pass(size)
	}
}

// isView reports whether the metadata of a collection are those of a view: its type
// says so or, from versions of mongodump that wrote none, its options.
func isView(metadata []byte) bool {
	text := func(field string) (value string) {
		_ = findBSON(metadata, []string{field}, func(typ byte, v []byte) {
			if typ == 0x02 {
				value = string(v[4 : len(v)-1])
			}
		})
		return value
	}
	if kind := text("type"); kind != "" {
		return kind == "view"
	}
	var described struct{ Options struct{ ViewOn string } }
	return json.Unmarshal([]byte(text("metadata")), &described) == nil && described.Options.ViewOn != ""
}

// ended returns err, or an error for an end of the input or of a part that is not
// expected here.
func ended(err error) error {
	switch err {
	case io.EOF:
		return io.ErrUnexpectedEOF
	case errTerminator:
		return fmt.Errorf("%w: a terminator where a collection's name should be", errArchive)
	}
	return err
}

// header is a document of an archive that names a collection.
type header struct {
	name   string // with its database
	eof    bool   // the collection ends here
	sum    uint64 // of its documents, if hasSum
	hasSum bool
}

// parseHeader parses a header.
func parseHeader(doc []byte) (out header, err error) {
	var db, collection string
	w := bsonwalk.New(doc)
	for w.Next() {
		v := w.Value()
		switch name, typ := string(w.Name()), w.Type(); {
		case name == "db" && typ == 0x02:
			db = string(v[4 : len(v)-1])
		case name == "collection" && typ == 0x02:
			collection = string(v[4 : len(v)-1])
		case name == "EOF" && typ == 0x08:
			out.eof = v[0] != 0
		case name == "CRC" && typ == 0x12:
			out.sum, out.hasSum = binary.LittleEndian.Uint64(v), true
		}
	}
	if err := w.Err(); err != nil {
		return out, fmt.Errorf("%w: %w", errBSON, err)
	}
	if collection == "" {
		return out, fmt.Errorf("%w: a document without a collection's name", errArchive)
	}
	out.name = db + "." + collection
	return out, nil
}
