package source

import (
	"context"
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
// have several parts, with parts of others between them. The format is described
// in common/archive/spec.md of the MongoDB Database Tools. Only the collection with
// the given name is read, or all if it is empty.
func readArchive(ctx context.Context, r *bsonReader, only string) error {
	if err := r.need(ctx, len(archiveMagic)); err != nil {
		return stopped(r.offset, err)
	}
	r.pass(len(archiveMagic))
	open := map[string]bool{} // collections that have not ended
	for prelude := true; ; prelude = false {
		seen := 0
		for prelude {
			size, err := r.next(ctx)
			if err == errTerminator {
				break
			}
			if err != nil {
				return stopped(r.offset, ended(err))
			}
			if doc := r.data[:size]; seen > 0 {
				name, err := collectionName(doc)
				if err != nil {
					return stopped(r.offset, err)
				}
				open[name] = true
			}
			seen++
			r.pass(size)
		}
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
			delete(open, name)
			if _, err := r.next(ctx); err != errTerminator {
				return stopped(r.offset, fmt.Errorf("%w: no terminator after collection %s", errArchive, name))
			}
			continue
		}
		open[name] = true
		r.label = name
		r.skip = only != "" && only != name && !strings.HasSuffix(name, "."+only)
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
