package source

import "bytes"

// parseList reads one id per line, bare or in any of the notations of package paste,
// with or without a comma after it.
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

// parseText finds every run of exactly 24 hexadecimal digits, also behind an escaped
// character whose digits or letter continue into the run.
func parseText(block []byte, b *Batch) {
	place := uint32(0)
	line := 0 // where the line of place begins, or a later position in it
	// A run of 24 digits has a digit at every 24th position, so bytes between two
	// that are not digits can be skipped.
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

// escaped returns how many bytes of run, which are hexadecimal digits, belong to an
// escaped character that begins in before: as in \u003c and \b of JSON, \x3c of programs
// and %3C of URLs.
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

// isHex contains the hexadecimal digits.
var isHex = func() (t [256]bool) {
	for _, c := range []byte("0123456789abcdefABCDEF") {
		t[c] = true
	}
	return t
}()

// longRun is a number of digits of which each half is too long for an id, with the rest of
// an escape before it.
const longRun = 64

// betweenDigits cuts any text so that neither a run of digits that may be an id nor an
// escape before it is cut. A block may therefore end within a line.
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
