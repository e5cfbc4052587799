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

	"go.mongodb.org/mongo-driver/v2/bson"
)

// archiveMagic begins every archive of mongodump.
const archiveMagic = "\x6d\xe2\x99\x81"

var (
	// errArchive is wrapped by the errors about the structure of an archive.
	errArchive = errors.New("census: not an archive of mongodump")

	// errTerminator is returned for the four bytes that end a part.
	errTerminator = errors.New("terminator")
)

// terminator ends each part of an archive. No document begins like that.
const terminator = "\xff\xff\xff\xff"

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
// the name that the options have is read, or all. After a wrong checksum reading goes on,
// and the error names all such collections.
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
			return r.expected(err)
		}
		name := head.name()
		skip := only != "" && !isNamed(name, only) && !isNamed(withData(name), only)
		if head.EOF {
			delete(open, name)
			delete(open, withData(name))
			if !skip && head.CRC != nil && uint64(*head.CRC) != sums[name] {
				damaged = append(damaged, name)
			}
			if err := r.more(); err == nil {
				return r.stopped(fmt.Errorf("%w: no terminator after collection %s", errArchive, name))
			} else if err != errTerminator {
				return r.expected(err)
			}
			continue
		}
		if !open[withData(name)] {
			open[name] = true
		}
		if sums[name], err = r.documents(name, skip, sums[name]); err != nil {
			return r.expected(err)
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
	data   []byte // whole documents that have been read, and not yet used
	offset int64  // of what follows data
}

// split is a [bufio.SplitFunc] for a terminator, or as many whole documents as there are.
func (r *archiveReader) split(data []byte, atEnd bool) (n int, token []byte, err error) {
	if n = len(terminator); len(data) < n || string(data[:n]) != terminator {
		if n, err = betweenDocuments(data, atEnd); n == 0 {
			return 0, nil, err
		}
	}
	r.offset += int64(n)
	return n, data[:n], nil // what is wrong behind them is found again
}

// more reads until data has a document. The error is errTerminator, once that has been
// passed, io.EOF at the end of the archive, or says where reading stopped.
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

// stopped returns err with the position of data.
func (r *archiveReader) stopped(err error) error { return stopped(r.offset-int64(len(r.data)), err) }

// expected returns err, or an error for an end of the archive or of a part that is not
// expected here.
func (r *archiveReader) expected(err error) error {
	switch err {
	case io.EOF:
		return r.stopped(io.ErrUnexpectedEOF)
	case errTerminator:
		return r.stopped(fmt.Errorf("%w: a terminator where the name of a collection should be", errArchive))
	}
	return err
}

// documents emits the documents up to a terminator, unless they are skipped, and returns
// their checksum, given that of the documents before.
func (r *archiveReader) documents(name string, skip bool, sum uint64) (uint64, error) {
	for {
		if err := r.more(); err == errTerminator {
			return sum, nil
		} else if err != nil {
			return sum, err
		}
		if !skip {
			sum = crc64.Update(sum, crc64.MakeTable(crc64.ECMA), r.data)
			b := r.batches.Get().(*Batch)
			b.Collection, b.start = name, r.offset-int64(len(r.data))
			r.parseDocuments(r.data, b)
			stop := b.stop
			if err := cmp.Or(r.emit(b), stop); err != nil {
				return sum, err
			}
		}
		r.data = nil
	}
}

// withData returns the name of the time-series collection whose data are in the
// collection called name, or name.
func withData(name string) string { return strings.Replace(name, ".system.buckets.", ".", 1) }

// isNamed reports whether name, which begins with a database, is the collection only.
func isNamed(name, only string) bool { return name == only || strings.HasSuffix(name, "."+only) }

// prelude passes the metadata and returns the collections that have data, all of which are
// yet to end.
func (r *archiveReader) prelude() (map[string]bool, error) {
	open := map[string]bool{}
	if err := r.more(); err != nil {
		return nil, r.expected(err)
	}
	r.data = r.data[binary.LittleEndian.Uint32(r.data):] // about the archive
	for {
		head, err := r.header()
		if err == errTerminator {
			return open, nil
		}
		if err != nil {
			return nil, r.expected(err)
		}
		if !head.isView() {
			open[head.name()] = true
		}
	}
}

// isView reports whether h is the metadata of a view: its type says so or, from versions of
// mongodump that wrote none, its options.
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
	EOF        bool   `bson:"EOF"` // the collection ends here
	CRC        *int64 `bson:"CRC"` // of its documents
	Type       string
	Metadata   string // as JSON
}

func (h *header) name() string { return h.DB + "." + h.Collection }

// header reads a header. The error is as that of more.
func (r *archiveReader) header() (out header, err error) {
	if err := r.more(); err != nil {
		return out, err
	}
	size := binary.LittleEndian.Uint32(r.data)
	if err := bson.Unmarshal(r.data[:size], &out); err != nil {
		return out, r.stopped(fmt.Errorf("%w: %w", errBSON, err))
	}
	if out.Collection == "" {
		return out, r.stopped(fmt.Errorf("%w: a document without the name of a collection", errArchive))
	}
	r.data = r.data[size:]
	return out, nil
}
