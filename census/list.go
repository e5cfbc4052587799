package census

import "bytes"

// list reads one id per line: bare, in quotes, or as ObjectId("..."), with a
// comma behind it or not.
type list struct{}

func (list) parse(block []byte, b *batch) {
	place := uint32(0)
	for ; len(block) > 0; place++ {
		if len(block) > hexDigits && block[hexDigits] == '\n' {
			if first, last, ok := decodeHex(block); ok {
				b.ids = append(b.ids, recordOf(first, last, place))
				block = block[hexDigits+1:]
				continue
			}
		}
		line, rest, _ := bytes.Cut(block, []byte{'\n'})
		block = rest
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if digits, ok := listed(line); ok {
			b.ids = append(b.ids, newRecordHex(digits, place))
		} else {
			b.problem(place, "not an id: %q", clip(line))
		}
	}
	b.documents = place
}

// listed returns the digits of the id that a line of a list holds.
func listed(line []byte) (digits []byte, ok bool) {
	return unwrap(bytes.TrimSuffix(bytes.TrimSpace(line), []byte{','}))
}
