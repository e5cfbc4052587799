package source

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/oidkit/oid/inspect"
)

// parseList is a blockParser for a list: one id per line, bare or in any notation that
// [inspect.ParseObjectID] reads, with or without a comma after it.
func parseList(block []byte, b *Batch) {
	place := uint32(0)
	for ; len(block) > 0; place++ {
		if len(block) > hexDigits && block[hexDigits] == '\n' && b.addHex(block[:hexDigits], place) {
			block = block[hexDigits+1:]
			continue
		}
		line, rest, _ := bytes.Cut(block, []byte{'\n'})
		block = rest
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if !b.addPasted(short(line), place) {
			b.addProblem(place, "not an id: %q", clip(line))
		}
	}
	b.Documents = place
}

// parseText is a blockParser for any text. It adds the ObjectIds that [inspect.Find] finds.
func parseText(block []byte, b *Batch) {
	place, line := uint32(0), 0 // a position in the line of place
	// The matches refer to the block, which does not change before they are added.
	b.matches = inspect.AppendObjectIDs(b.matches[:0], unsafe.String(unsafe.SliceData(block), len(block)))
	for _, m := range b.matches {
		place += uint32(bytes.Count(block[line:m.Start], []byte{'\n'}))
		line = m.Start
		b.addHex([]byte(m.ID), place)
	}
	b.Documents = place + uint32(bytes.Count(block[line:], []byte{'\n'}))
}

// maxCutRunes is how many bytes of characters may be cut off at the ends of a block.
const maxCutRunes = 2 * (utf8.UTFMax - 1)

// unread are values that programs write among text, and in which ids cannot be found.
var unread = []struct {
	marks   []string // one of them is at the beginning of what the program writes
	in      func(block []byte) bool
	problem string
}{
	{
		[]string{"-- MySQL dump ", "-- MariaDB dump ", "<mysqldump "}, // the last one is of --xml
		func(block []byte) bool { return len(block)-len(bytes.ToValidUTF8(block, nil)) > maxCutRunes },
		"binary values, in which no ids can be found: repeat mysqldump with --hex-blob",
	},
	{
		[]string{`"__CURSOR"`, blob},
		hasUnreadMessage,
		"messages as blobs, lists of bytes or null, in which no ids can be found: repeat journalctl with -a -o verbose",
	},
}

// blob is the end of what journalctl writes for a message with control characters, such as colours.
const blob = "B blob data]"

// hasUnreadMessage reports whether journalctl wrote a blob or, in JSON, a list of bytes instead of a
// message with control characters, or null instead of a long message.
func hasUnreadMessage(block []byte) bool {
	has := bytes.Contains(block, []byte(blob))
	for more := true; more && !has; {
		_, block, more = bytes.Cut(block, []byte(`"MESSAGE"`))
		value := bytes.TrimLeft(block, " :")
		has = bytes.HasPrefix(value, []byte("[")) || bytes.HasPrefix(value, []byte("null"))
	}
	return has
}

// textParser returns the parser for a text. The parser adds a problem if a block has values that
// are unread.
func textParser(s *Input) blockParser {
	for _, u := range unread {
		if !slices.ContainsFunc(u.marks, func(mark string) bool { return bytes.Contains(s.text.Head, []byte(mark)) }) {
			continue
		}
		return func(block []byte, b *Batch) {
			if parseText(block, b); u.in(block) {
				b.addProblem(0, "%s", u.problem)
			}
		}
	}
	return parseText
}

// isHex is true for the hexadecimal digits.
var isHex = func() (t [256]bool) {
	for _, c := range []byte("0123456789abcdefABCDEF") {
		t[c] = true
	}
	return t
}()

const (
	// longRun is a number of digits that can be cut in the middle: each half is longer than an
	// id with the digits of an escape before it.
	longRun = 64

	// longestTail is how far from its end a text without lines and objects is cut.
	longestTail = 1 << 10
)

// betweenIDs is a cutter for any text. It cuts after a line or an object or, in a text with
// neither, where no id can be. A block may end within a line.
func betweenIDs(data []byte, atEnd bool) (int, error) {
	if atEnd {
		return len(data), nil
	}
	for end := len(data); end > 0; end-- {
		end = bytes.LastIndexAny(data[:end], "\n}") + 1
		if end > 0 && !inspect.Continues(string(data[max(end-longRun, 0):end])) {
			return end, nil
		}
	}
	digits := 0 // directly behind data[i]
	for i := len(data) - 1; i > max(len(data)-longestTail, 0); i-- {
		switch c := data[i]; {
		case isHex[c]:
			if digits++; digits > longRun {
				return i + longRun/2, nil
			}
			continue
		case strings.IndexByte("\\%#^\x1b", c) >= 0 || c == '=' && i+1 < len(data) && data[i+1] > '\r':
			return i, nil // an escape may begin here
		case c == '-' && len(data[:i])-len(bytes.TrimRight(data[:i], "0123456789abcdefABCDEF")) <= 8:
			// The beginning of a GUID may end here.
		case strings.IndexByte("=\r\n", c) >= 0 || strings.IndexByte("uUx[(", c) >= 0 && strings.IndexByte("\\%\x1b", data[i-1]) >= 0:
		default:
			return i + 1, nil
		}
		digits = 0
	}
	return max(len(data)-longestTail, 0), nil
}
