package census

import "bytes"

// grep finds every run of exactly 24 hexadecimal digits.
type grep struct{}

func (grep) parse(block []byte, b *batch) {
	place := uint32(0)
	line := 0 // where the line of place begins, or a later position in it
	// A run of 24 digits has a digit at every 24th position, so the bytes
	// between two that are none need no look.
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
			b.ids = append(b.ids, newRecordHex(block[from:], place))
		}
		i = to + hexDigits
	}
	place += uint32(bytes.Count(block[line:], []byte{'\n'}))
	b.documents = place
}

// hexEnds ends a block of any text where no run of digits can be cut. A block
// may therefore end within a line.
var hexEnds = ends{
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
