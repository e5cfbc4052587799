package source

import "bytes"

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

// parseText is a blockParser for any text. It finds every run of exactly 24 hexadecimal digits.
// If an escaped character ends directly before the 24 digits, as in \u003c, its digits do not
// count.
func parseText(block []byte, b *Batch) {
	place := uint32(0)
	line := 0 // a position in the line of place
	// It is enough to look at every 24th byte: a run of 24 digits contains one of them.
	for i := hexDigits - 1; i < len(block); {
		if !isHex[block[i]] {
			i += hexDigits
			continue
		}
		from := i
		for from > 0 && isHex[block[from-1]] {
			from--
		}
		to := i + 1
		for to < len(block) && isHex[block[to]] {
			to++
		}
		if id := to - hexDigits; id == from || id > from && from+escaped(block[:from], block[from:to]) == id {
			from = id
			place += uint32(bytes.Count(block[line:from], []byte{'\n'}))
			line = from
			b.addHex(block[from:to], place)
		}
		i = to + hexDigits
	}
	place += uint32(bytes.Count(block[line:], []byte{'\n'}))
	b.Documents = place
}

// escaped returns how many bytes at the beginning of run, which are hexadecimal digits, belong
// to an escaped character that begins at the end of before: \u003c and \b in JSON, \x3c in
// programs, %3C in URLs.
func escaped(before, run []byte) int {
	switch {
	case bytes.HasSuffix(before, []byte(`\u`)):
		return 4
	case bytes.HasSuffix(before, []byte(`\x`)), bytes.HasSuffix(before, []byte(`%`)):
		return 2
	case bytes.HasSuffix(before, []byte(`\`)) && (run[0] == 'b' || run[0] == 'f'):
		return 1
	}
	return 0
}

// isHex is true for the hexadecimal digits.
var isHex = func() (t [256]bool) {
	for _, c := range []byte("0123456789abcdefABCDEF") {
		t[c] = true
	}
	return t
}()

// longRun is a number of digits that can be cut in the middle: each half is longer than an id
// with the digits of an escaped character before it.
const longRun = 64

// betweenDigits is a cutter for any text. It cuts neither within a run of digits that may be
// an id, nor within an escaped character. A block may end within a line.
func betweenDigits(data []byte, atEnd bool) (int, error) {
	if atEnd {
		return len(data), nil
	}
	for i := len(data) - 1; i >= 0; i-- {
		switch {
		case len(data)-i > longRun:
			return len(data) - longRun/2, nil
		case isHex[data[i]]:
		case data[i] == '%', data[i] == '\\':
			return i, nil
		case i > 0 && (data[i] == 'u' || data[i] == 'x') && data[i-1] == '\\':
			return i - 1, nil
		default:
			return i + 1, nil
		}
	}
	return 0, nil
}
