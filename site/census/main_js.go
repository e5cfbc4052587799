package main

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"io/fs"
	"runtime/debug"
	"syscall/js"
	"time"
)

// main takes the census that worker.js has put into oidJob, and gives the answer to oidPost.
func main() {
	in := js.Global().Get("oidJob")
	j := job{field: in.Get("field").String(), isText: in.Get("format").String() == "grep", zone: in.Get("tz").String(), lang: in.Get("lang").String(), memory: int64(in.Get("memory").Float())}
	given := in.Get("files")
	for i := range given.Length() {
		one := given.Index(i)
		f := file{path: one.Get("path").String()}
		if blob := one.Get("file"); blob.Truthy() {
			f.open = func() io.Reader {
				return browserFile{io.NewSectionReader(blocks(i), 0, max(1, int64(blob.Get("size").Float())))} // a deleted file has size 0, too: only reading tells
			}
		}
		j.files = append(j.files, f)
	}
	debug.SetMemoryLimit(j.memory)
	js.Global().Call("oidPost", map[string]any(take(context.Background(), j)))
}

// blocks is the index of a file in oidJob. It reads what oidRead of worker.js returns.
type blocks int

var read int // bytes since the browser last had time

func (b blocks) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		data := js.Global().Call("oidRead", int(b), at+int64(n))
		if data.Type() == js.TypeString {
			return n, errors.New("the browser cannot read the file (" + data.String() + "); if it was changed, moved or deleted after it was chosen, choose it again")
		}
		k := js.CopyBytesToGo(p[n:], data)
		if k == 0 {
			return n, io.EOF
		}
		n += k
		if read += k; read > 64<<20 { // let the browser free what it has read
			read = 0
			time.Sleep(time.Millisecond)
		}
	}
	return n, nil
}

// browserFile is a file of the browser. It has Stat and ReadAt, so that a zip is read without a
// copy.
type browserFile struct{ *io.SectionReader }

func (f browserFile) Stat() (fs.FileInfo, error) {
	return (&tar.Header{Size: f.Size()}).FileInfo(), nil // of a regular file
}
