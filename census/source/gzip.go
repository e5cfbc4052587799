package source

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// prefixSize is how much of a source is looked at to find out its format.
const prefixSize = 64 << 10

// maxNested is how many times a source may have been compressed over.
const maxNested = 3

// gunzip makes what is left of a source, which is compressed, plain.
type gunzip struct{ *gzip.Reader }

// errGzip is wrapped by what is wrong with compressed data.
var errGzip = errors.New("census: gzip")

func (g gunzip) Read(p []byte) (int, error) {
	n, err := g.Reader.Read(p)
	switch {
	case err == nil || err == io.EOF:
	case err == io.ErrUnexpectedEOF:
		err = fmt.Errorf("%w: the compressed data ends early", errGzip)
	default:
		err = fmt.Errorf("%w: %w", errGzip, err)
	}
	return n, err
}

// plain returns in without compression, and what it begins with: prefixSize
// bytes, or less if there is an error, such as the end, before that.
func plainText(in io.Reader) (*bufio.Reader, []byte, error) {
	for range maxNested {
		buffered := bufio.NewReaderSize(in, prefixSize)
		head, err := buffered.Peek(2)
		if len(head) == 0 && err != nil && err != io.EOF {
			return nil, nil, err
		}
		if len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b {
			data, err := buffered.Peek(prefixSize)
			if len(data) == 0 && err == io.EOF {
				return nil, nil, ErrEmpty
			}
			return buffered, data, nil
		}
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, nil, stopped(0, fmt.Errorf("%w: %w", errGzip, err))
		}
		in = gunzip{unzipped}
	}
	return nil, nil, fmt.Errorf("%w: compressed more than %d times", ErrFormat, maxNested)
}
