package source

import "bytes"

// list reads one id per line, bare or in any of the notations of package paste,
// with or without a comma after it.
type list struct{}

func (list) parse(block []byte, b *Batch) {
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

// grep finds every run of exactly 24 hexadecimal digits.
type grep struct{}

func (grep) parse(block []byte, b *Batch) {
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
		if to-from == hexDigits {
			place += uint32(bytes.Count(block[line:from], []byte{'\n'}))
			line = from
			b.addHex(block[from:to], place)
		}
		i = to + hexDigits
	}
	place += uint32(bytes.Count(block[line:], []byte{'\n'}))
	b.Documents = place
}

// isHex contains the hexadecimal digits.
var isHex = func() (t [256]bool) {
	for _, c := range []byte("0123456789abcdefABCDEF") {
		t[c] = true
	}
	return t
}()

// betweenDigits are the ends of blocks of any text that cut no run of digits. A block
// may therefore end within a line.
var betweenDigits = ends{
	first: func(data []byte) int {
		for i, c := range data {
			if !isHex[c] {
				return i + 1
			}
		}
		return 0
	},
	last: func(data []byte) int {
		for i := len(data) - 1; i >= 0; i-- {
			if !isHex[data[i]] {
				return i + 1
			}
		}
		return 0
	},
}
