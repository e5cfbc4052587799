package main

import (
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
	in, post := js.Global().Get("oidJob"), js.Global().Get("oidPost")
	told := &telling{post: post}
	j := job{field: in.Get("field").String(), isText: in.Get("format").String() == "grep", zone: in.Get("tz").String(), lang: in.Get("lang").String(), memory: memory(in.Get("memory"))}
	given := in.Get("files")
	for i := range given.Length() {
		one := given.Index(i)
		f := file{path: one.Get("path").String()}
		if blob := one.Get("file"); blob.Truthy() {
			size := int64(blob.Get("size").Float())
			told.total += size
			f.open = func() io.Reader { return &browserFile{path: f.path, blob: blob, size: size, telling: told} }
		}
		j.files = append(j.files, f)
	}
	debug.SetMemoryLimit(j.memory)
	a := take(context.Background(), j)
	post.Invoke(map[string]any{"problem": a.problem, "html": a.html, "page": a.page, "svg": a.svg})
}

// telling tells the page how much was read.
type telling struct {
	post        js.Value
	read, total int64
	last        time.Time
}

// tellEvery is the least time between two messages about the progress.
const tellEvery = 100 * time.Millisecond

func (t *telling) add(n int, name string) {
	t.read += int64(n)
	if now := time.Now(); now.Sub(t.last) > tellEvery {
		t.last = now
		t.post.Invoke(map[string]any{"bytes": t.read, "total": t.total, "name": name})
	}
}

// blockSize is how many bytes of a file are read at once: the size of the array in worker.js. With
// 256 KiB, reading takes half as long again.
const blockSize = 4 << 20

// browserFile reads a file of the browser. It has Stat and ReadAt, so that a zip is read without
// a copy. One goroutine may use it.
type browserFile struct {
	path string
	blob js.Value // a File
	size int64
	next int64 // position of Read

	block []byte // a part of the file
	start int64  // position of the block
	*telling
}

func (f *browserFile) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.next)
	f.next += int64(n)
	return n, err
}

func (f *browserFile) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		if at >= f.size {
			return n, io.EOF
		}
		if at < f.start || at >= f.start+int64(len(f.block)) {
			if err := f.load(at); err != nil {
				return n, err
			}
		}
		k := copy(p[n:], f.block[at-f.start:])
		n, at = n+k, at+int64(k)
	}
	return n, nil
}

// load reads the block at a position.
func (f *browserFile) load(at int64) error {
	f.block = f.block[:0] // if reading fails, there is none
	n := int(min(blockSize, f.size-at))
	data := js.Global().Call("oidRead", f.blob, at, at+int64(n))
	if data.Type() == js.TypeString {
		return errors.New("the browser cannot read the file (" + data.String() + "); if it was changed, moved or deleted after it was chosen, choose it again")
	}
	if f.block == nil {
		f.block = make([]byte, min(blockSize, f.size))
	}
	f.block, f.start = f.block[:n], at
	js.CopyBytesToGo(f.block, data)
	f.add(n, f.path)
	return nil
}

// Stat returns the size. The other methods of the result must not be called.
func (f *browserFile) Stat() (fs.FileInfo, error) { return info{size: f.size}, nil }

type info struct {
	fs.FileInfo
	size int64
}

func (i info) Size() int64       { return i.size }
func (i info) Mode() fs.FileMode { return 0 }
