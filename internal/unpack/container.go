package unpack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/oidkit/oid/internal/phrase"
)

const (
	// The members of a file are at most maxMembers, with names of at most maxName bytes.
	maxMembers = 1 << 14
	maxName    = 1 << 10

	// maxDirectory is the most bytes of the directory of a zip.
	maxDirectory = 16 << 20
)

// maxSpool is the most bytes of a zip that is copied to a temporary file, because its
// directory is at its end and the source can be read only once. Tests change it.
var maxSpool int64 = 4 << 30

// Within is in the path of a file in a container that is in a container itself, between the
// path of the container and the path in it.
const Within = ": "

// container is a format of files that contain files.
type container struct {
	binary                      // for commands that read text
	walk   func(*members) error // calls add with each member
}

// containerOf returns the format of a container that begins with head, or nil for none.
func containerOf(head []byte) *container {
	switch {
	case isTar(head):
		return &container{binary{name: "tar", command: "tar -xOf FILE"}, (*members).tar}
	case matches(head, "PK\x03\x04"), matches(head, "PK\x05\x06"):
		return &container{binary{name: "zip", command: "unzip -p FILE"}, (*members).zip}
	}
	return nil
}

// isTar reports whether head begins with the header of a member. All versions of tar write
// the same checksum, and only some write a magic.
func isTar(head []byte) bool {
	if len(head) < 512 || head[0] == 0 {
		return false
	}
	_, err := tar.NewReader(bytes.NewReader(head)).Next()
	return err == nil || !errors.Is(err, tar.ErrHeader)
}

// members reads the members of a container.
type members struct {
	*unpacking
	content *Content
	kind    *container
	path    string // of the container in the file
	use     func(path string, c *Content, err error) error
	seen    map[string]bool // the names of the members that were used
	stop    error           // of use
}

// add uses a member, unless its name begins with a dot. It returns an error if no more
// members may be read.
func (m *members) add(name string, in io.Reader, unpacked func(int) error, err error) error {
	name = strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/")
	if IsHidden(name) {
		return nil
	}
	if limit := m.limit.Load(); limit != nil {
		return *limit
	}
	m.members++
	switch {
	case len(name) > maxName:
		return fmt.Errorf("unpack: %s: a name of %d bytes, want at most %d", m.kind.name, len(name), maxName)
	case m.members > maxMembers:
		return fmt.Errorf("unpack: %s: more than %d files; extract them and read the folder", m.kind.name, maxMembers)
	case m.seen[name]:
		err = fmt.Errorf("unpack: an earlier file in the %s has the same name; only that one is read. To read only the last one, extract the files and read the folder", m.kind.name)
	}
	m.seen[name] = true
	name = phrase.Shown(strings.ToValidUTF8(name, "\ufffd")) // it is part of errors and reports
	full := strings.TrimPrefix(m.path+Within+name, Within)
	if err != nil {
		m.stop = m.use(full, nil, err)
		return m.stop
	}
	l := &layer{Reader: in, unpacking: m.unpacking, name: m.kind.name, depth: m.content.depth + 1, unpacked: unpacked}
	if m.stop = m.walk(l, full, m.content, m.use); m.stop == nil {
		_ = l.Close() // a goroutine may still read ahead
	}
	return m.stop
}

// tar reads the members of a tar. The data of a link is that of another member.
func (m *members) tar() error {
	r := tar.NewReader(m.content)
	for {
		h, err := r.Next()
		if err == io.EOF { // a compression has its checksum after it
			_, err = io.Copy(zeros{}, m.content)
			return err
		}
		if err != nil {
			return fmt.Errorf("unpack: tar: the files from here on are not read: %w", err)
		}
		if head, _ := m.content.Peek(len(pgDump)); h.Name == "toc.dat" && string(head) == pgDump { // pg_dump -Ft
			return m.options().Known(head, false)
		}
		switch h.Typeflag {
		case tar.TypeDir, tar.TypeLink, tar.TypeSymlink, tar.TypeChar, tar.TypeBlock, tar.TypeFifo, tar.TypeXGlobalHeader, volume, listing:
			continue
		case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
		default:
			err = fmt.Errorf("unpack: tar: files of type %q are not read; extract them with tar", h.Typeflag)
		}
		if err := m.add(h.Name, r, nil, err); err != nil {
			return err
		}
	}
}

// GNU tar writes these types for options -V and -G. Their members are not files.
const volume, listing = 'V', 'D'

var errAfterEnd = errors.New("unpack: tar: there is data after its end, perhaps a second tar, which is not read; extract both with tar --ignore-zeros and read the folder")

// zeros takes only zero bytes.
type zeros struct{}

func (zeros) Write(p []byte) (int, error) {
	if len(bytes.TrimLeft(p, "\x00")) > 0 {
		return 0, errAfterEnd
	}
	return len(p), nil
}

// options are for refusing the container. Commands read it only when it is decompressed.
func (m *members) options() *Options {
	return &Options{Name: Plain(cmp.Or(m.path, m.Name)), Then: m.Then}
}

// zip reads the members of a zip.
func (m *members) zip() error {
	in, size, done, err := m.readerAt()
	if err != nil {
		return err
	}
	defer done()
	directory := &limitedAt{in, maxDirectory}
	r, err := zip.NewReader(directory, size)
	if err != nil {
		return failed("zip", err)
	}
	directory.left = math.MaxInt64
	r.RegisterDecompressor(zip.Deflate, flate.NewReader)
	o := m.options()
	if slices.ContainsFunc(r.File, func(f *zip.File) bool { return f.Name == "xl/workbook.xml" }) {
		return o.refusal(binary{name: "an Excel file", command: "xlsx2csv FILE"})
	}
	for _, f := range r.File {
		if f.Mode().IsDir() {
			continue
		}
		in, err := f.Open()
		switch {
		case f.Flags&1 != 0:
			err = o.refusal(binary{name: "encrypted", command: "unzip -p FILE " + phrase.Argument(f.Name)})
		case err == zip.ErrAlgorithm:
			err = o.refusal(binary{name: fmt.Sprintf("compressed with method %d of zip", f.Method), command: bsdtar})
		case err != nil:
			err = failed("zip", err)
		}
		stop := m.add(f.Name, in, m.Unpacked, err)
		if in != nil {
			_ = in.Close() // Read has returned all errors
		}
		if stop != nil {
			return stop
		}
	}
	return nil
}

// readerAt returns the container for access at any position: the file itself or, if it is
// compressed, in another container or a stream, a temporary copy.
func (m *members) readerAt() (in io.ReaderAt, size int64, done func(), err error) {
	if f, ok := m.in.(interface {
		io.ReaderAt
		Stat() (fs.FileInfo, error)
	}); ok && m.content.depth == 0 {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			m.sizes[0].Store(info.Size())
			return f, info.Size(), func() {}, nil
		}
	}
	f, err := os.CreateTemp("", "oid-zip-")
	if err != nil {
		return nil, 0, nil, err
	}
	done = func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
	if size, err = io.Copy(f, io.LimitReader(m.content, maxSpool+1)); err == nil && size > maxSpool {
		err = fmt.Errorf("unpack: a zip of more than %d GiB that is no file of its own; write it to a file and give the name of the file", maxSpool>>30)
	}
	if err != nil {
		done()
	}
	return f, size, done, err
}

// limitedAt is an io.ReaderAt of which only a number of bytes may be read.
type limitedAt struct {
	io.ReaderAt
	left int64
}

func (l *limitedAt) ReadAt(p []byte, at int64) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, fmt.Errorf("a directory of more than %d MiB; extract the files and read the folder", maxDirectory>>20)
	}
	return l.ReaderAt.ReadAt(p, at)
}
