package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/oidkit/oid/internal/bsonwalk"
)

// archiveMagic begins every archive of mongodump.
const archiveMagic = "\x6d\xe2\x99\x81"

// errArchive is wrapped by the errors about the structure of an archive.
var errArchive = errors.New("census: not an archive of mongodump")

// readArchive emits the documents of an archive as mongodump --archive writes it:
//
//	magic | header | metadata of each collection ... | terminator
//	(collection | document ... | terminator) ...
//
// where all but the magic and the terminator are BSON documents. A collection may
// have several parts, with parts of others between them. A view has metadata alone,
// and the data of a time-series collection is that of its buckets, a collection
// without metadata. The format is described in common/archive/spec.md of the MongoDB
// Database Tools, the names of buckets in prelude.go there. Only the collection with
// the given name is read, or all if it is empty.
func readArchive(ctx context.Context, r *bsonReader, only string) error {
	if err := r.need(ctx, len(archiveMagic)); err != nil {
		return stopped(r.offset, err)
	}
	r.pass(len(archiveMagic))
	open, err := readPrelude(ctx, r)
	if err != nil {
		return stopped(r.offset, ended(err))
	}
	for {
		size, err := r.next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return stopped(r.offset, ended(err))
		}
		name, err := collectionName(r.data[:size])
		if err != nil {
			return stopped(r.offset, err)
		}
		eof := isTrue(r.data[:size], "EOF")
		r.pass(size)
		if eof {
			open.end(name)
			if _, err := r.next(ctx); err == nil {
				return stopped(r.offset, fmt.Errorf("%w: no terminator after collection %s", errArchive, name))
			} else if err != errTerminator {
				return stopped(r.offset, ended(err))
			}
			continue
		}
		open.begin(name)
		r.label = name
		r.skip = only != "" && !isNamed(name, only) && !isNamed(withData(name), only)
		if err := r.read(ctx); err != errTerminator {
			if err == io.EOF {
				err = stopped(r.offset, ended(err))
			}
			return err
		}
	}
	if len(open) > 0 {
		names := slices.Sorted(maps.Keys(open))
		return stopped(r.offset, fmt.Errorf("%w: the archive ends before its collections do: %s", io.ErrUnexpectedEOF, strings.Join(names, ", ")))
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
			name, err := collectionName(r.data[:size])
			if err != nil {
				return nil, err
			}
			if !isView(r.data[:size]) {
				open[name] = true
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

// collectionName returns database.collection from a document of an archive.
func collectionName(doc []byte) (string, error) {
	var db, collection string
	w := bsonwalk.New(doc)
	for w.Next() {
		if w.Type() != 0x02 {
			continue
		}
		text := string(w.Value()[4 : len(w.Value())-1])
		switch string(w.Name()) {
		case "db":
			db = text
		case "collection":
			collection = text
		}
	}
	if err := w.Err(); err != nil {
		return "", fmt.Errorf("%w: %w", errBSON, err)
	}
	if collection == "" {
		return "", fmt.Errorf("%w: a document without a collection's name", errArchive)
	}
	return db + "." + collection, nil
}

// isTrue reports whether doc has the field with the value true.
func isTrue(doc []byte, field string) bool {
	yes := false
	_ = findBSON(doc, []string{field}, func(typ byte, value []byte) {
		yes = typ == 0x08 && value[0] != 0
	})
	return yes
}
