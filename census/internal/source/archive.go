package source

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/oidkit/oid/internal/bsonwalk"
)

// archiveMagic begins every archive of mongodump.
const archiveMagic = "\x6d\xe2\x99\x81"

var (
	// errArchive is wrapped by the errors about the structure of an archive.
	errArchive = errors.New("census: not an archive of mongodump")

	// errTerminator is returned when a terminator has been read.
	errTerminator = errors.New("terminator")
)

// terminator ends each part of an archive. No document begins with these bytes.
const terminator = "\xff\xff\xff\xff"

// readArchive emits the documents of an archive as mongodump --archive writes it:
//
//	magic | header | metadata of each collection ... | terminator
//	(collection | document ... | terminator) ...
//
// Everything except the magic and the terminators is a BSON document. A collection may have
// several parts, between parts of other collections. It ends with a part that has no
// documents but the checksum of all documents. A view has only metadata. The data of a
// time-series collection is in a collection of buckets, which has no metadata. The format
// is described in common/archive/spec.md of the MongoDB Database Tools, and the names of
// buckets in prelude.go there.
//
// If a checksum is wrong, reading continues. The error at the end names all collections with
// wrong checksums.
func (s *Input) readArchive(in io.Reader, emit func(*Batch) error) error {
	if _, err := io.CopyN(io.Discard, in, int64(len(archiveMagic))); err != nil {
		return stopped(0, err)
	}
	r := &archiveReader{Input: s, parts: bufio.NewScanner(in), offset: int64(len(archiveMagic)), emit: emit}
	r.parts.Buffer(make([]byte, blockSize), maxDocument+1)
	r.parts.Split(r.split)
	open, err := r.prelude()
	if err != nil {
		return err
	}
	only := s.options.Collection
	sums := map[string]uint64{}
	var damaged []string
	for {
		head, err := r.header()
		if err == io.EOF {
			break
		}
		if err != nil {
			return r.unexpected(err)
		}
		name := head.name()
		skip := only != "" && !isNamed(name, only) && !isNamed(withData(name), only)
		if head.EOF {
			delete(open, name)
			delete(open, withData(name))
			if !skip && head.CRC != nil && *head.CRC != sums[name] {
				damaged = append(damaged, name)
			}
			if err := r.more(); err == nil {
				return r.stopped(fmt.Errorf("%w: no terminator after collection %s", errArchive, name))
			} else if err != errTerminator {
				return r.unexpected(err)
			}
			continue
		}
		if !open[withData(name)] {
			open[name] = true
		}
		if sums[name], err = r.documents(name, skip, sums[name]); err != nil {
			return r.unexpected(err)
		}
	}
	if len(open) > 0 {
		names := slices.Sorted(maps.Keys(open))
		return r.stopped(fmt.Errorf("%w: the archive ends within these collections: %s", io.ErrUnexpectedEOF, strings.Join(names, ", ")))
	}
	if len(damaged) > 0 {
		return fmt.Errorf("census: wrong checksum: the documents of these collections are not what mongodump wrote: %s", strings.Join(damaged, ", "))
	}
	return nil
}

// archiveReader reads the parts of an archive.
type archiveReader struct {
	*Input
	parts  *bufio.Scanner
	emit   func(*Batch) error
	data   []byte // whole documents that have been read but not parsed
	offset int64  // position of the byte after data
}

// split is a [bufio.SplitFunc]. A token is a terminator, or all whole documents in data.
func (r *archiveReader) split(data []byte, atEnd bool) (n int, token []byte, err error) {
	if n = len(terminator); len(data) < n || string(data[:n]) != terminator {
		if n, err = betweenDocuments(data, atEnd); n == 0 {
			return 0, nil, err
		}
	}
	r.offset += int64(n)
	return n, data[:n], nil // the next call finds the error after them again
}

// more reads until data has a document. It returns errTerminator after a terminator, io.EOF
// at the end of the archive, or an error with the position at which reading stopped.
func (r *archiveReader) more() error {
	if len(r.data) > 0 {
		return nil
	}
	if !r.parts.Scan() {
		if err := r.parts.Err(); err != nil {
			return r.stopped(err)
		}
		return io.EOF
	}
	if r.data = r.parts.Bytes(); string(r.data) == terminator {
		r.data = nil
		return errTerminator
	}
	return nil
}

// stopped adds the position of data to err.
func (r *archiveReader) stopped(err error) error { return stopped(r.offset-int64(len(r.data)), err) }

// unexpected turns io.EOF and errTerminator into errors for the user. It is for positions at
// which neither may come. Other errors stay as they are.
func (r *archiveReader) unexpected(err error) error {
	switch err {
	case io.EOF:
		return r.stopped(io.ErrUnexpectedEOF)
	case errTerminator:
		return r.stopped(fmt.Errorf("%w: a terminator where the name of a collection should be", errArchive))
	}
	return err
}

// documents reads the documents of a collection up to a terminator. If skip is false, it emits
// them and returns sum, the checksum of the documents before, with these added.
func (r *archiveReader) documents(name string, skip bool, sum uint64) (uint64, error) {
	for {
		if err := r.more(); err == errTerminator {
			return sum, nil
		} else if err != nil {
			return sum, err
		}
		if !skip {
			first := sum == 0
			sum = crc64.Update(sum, crc64.MakeTable(crc64.ECMA), r.data)
			b := r.batches.Get().(*Batch)
			b.Collection, b.start, b.first = name, r.offset-int64(len(r.data)), first
			r.parseDocuments(r.data, b)
			stop := b.stop
			if err := cmp.Or(r.emit(b), stop); err != nil {
				return sum, err
			}
		}
		r.data = nil
	}
}

// withData returns the name of the time-series collection if name is that of its collection
// of buckets. Other names stay as they are.
func withData(name string) string { return strings.Replace(name, ".system.buckets.", ".", 1) }

// isNamed reports whether only, "orders" or "shop.orders", means the collection called name,
// which begins with the database.
func isNamed(name, only string) bool { return name == only || strings.HasSuffix(name, "."+only) }

// prelude reads the metadata at the beginning. It returns the collections that have data and
// therefore must end later.
func (r *archiveReader) prelude() (map[string]bool, error) {
	open := map[string]bool{}
	if err := r.more(); err != nil {
		return nil, r.unexpected(err)
	}
	r.data = r.data[binary.LittleEndian.Uint32(r.data):] // about the archive
	for {
		head, err := r.header()
		if err == errTerminator {
			return open, nil
		}
		if err != nil {
			return nil, r.unexpected(err)
		}
		if !head.isView() {
			open[head.name()] = true
		}
	}
}

// isView reports whether h is the metadata of a view. Old versions of mongodump write no type,
// but a view has the option viewOn.
func (h *header) isView() bool {
	if h.Type != "" {
		return h.Type == "view"
	}
	var described struct{ Options struct{ ViewOn string } }
	return json.Unmarshal([]byte(h.Metadata), &described) == nil && described.Options.ViewOn != ""
}

// header is a document of an archive that names a collection.
type header struct {
	DB         string
	Collection string
	EOF        bool    // the collection ends here
	CRC        *uint64 // checksum of its documents
	Type       string
	Metadata   string // as JSON
}

func (h *header) name() string { return h.DB + "." + h.Collection }

// set sets the field of h that an archive calls name. It ignores null and other names.
func (h *header) set(name []byte, v value) error {
	field := string(name)
	text, isText := map[string]*string{"db": &h.DB, "collection": &h.Collection, "type": &h.Type, "metadata": &h.Metadata}[field]
	switch {
	case isText && v.typ == typeString:
		*text = string(v.text())
	case field == "EOF" && v.typ == typeBool:
		h.EOF = v.data[0] != 0
	case field == "CRC" && v.typ == typeLong:
		h.CRC = new(binary.LittleEndian.Uint64(v.data))
	case v.typ != typeNull && (isText || field == "EOF" || field == "CRC"):
		return bsonwalk.Wrap(name, fmt.Errorf("a value of type %s", bsonTypes[v.typ]))
	}
	return nil
}

// header reads a header. It returns the errors of more.
func (r *archiveReader) header() (out header, err error) {
	if err := r.more(); err != nil {
		return out, err
	}
	size := binary.LittleEndian.Uint32(r.data)
	if err := (value{typ: typeObject, data: r.data[:size]}).each(out.set); err != nil {
		return out, r.stopped(fmt.Errorf("%w: %w", errBSON, err))
	}
	if out.Collection == "" {
		return out, r.stopped(fmt.Errorf("%w: a header does not name its collection", errArchive))
	}
	r.data = r.data[size:]
	return out, nil
}
