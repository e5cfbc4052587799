package paste

import (
	"bufio"
	"bytes"
	"io"

	"golang.org/x/text/encoding/unicode"
)

// UTF8 returns r, converted to UTF-8 if it begins as a text in UTF-16: with a byte
// order mark, or with two ASCII characters of two bytes each. Windows PowerShell
// writes such files. It reads up to four bytes from r.
func UTF8(r io.Reader) io.Reader {
	b := bufio.NewReaderSize(r, bufferSize(r))
	head, _ := b.Peek(4)
	switch {
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}), len(head) == 4 && isASCII(head[0], head[2]) && head[1]|head[3] == 0:
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(b)
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}), len(head) == 4 && isASCII(head[1], head[3]) && head[0]|head[2] == 0:
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder().Reader(b)
	}
	return b
}

// isASCII reports whether all characters are ASCII text.
func isASCII(characters ...byte) bool {
	for _, c := range characters {
		if c >= 0x7F || c < ' ' && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}
