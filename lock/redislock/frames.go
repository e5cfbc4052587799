package redislock

import (
	"bytes"
	"strconv"
)

// frames finds the ends of the requests or replies in a stream of the Redis
// serialization protocol, version 3. It does not look at what they say.
//
// See https://redis.io/docs/latest/develop/reference/protocol-spec/.
type frames struct {
	values int    // that are still to come in the frame under way; 0: none is
	skip   int    // bytes of a string that are still to come, with its end of line
	line   []byte // beginning of a line whose end has not come yet
	push   bool   // the frame is a message and no reply
	kind   []byte // of that message: its first string
	named  bool   // kind is complete
	lost   bool   // something is no such protocol: whoever reads it will say so
}

// maxLength is far above the length of anything that a Redis sends.
const maxLength = 1 << 30

// feed takes the next bytes of the stream and calls end for every frame that ends
// in them, with the kind of message that it is, or "".
func (f *frames) feed(p []byte, end func(push string)) {
	for len(p) > 0 && !f.lost {
		if f.skip > 0 {
			n := min(f.skip, len(p))
			if f.push && !f.named {
				f.kind = append(f.kind, p[:n]...)
			}
			p, f.skip = p[n:], f.skip-n
			if f.skip == 0 {
				f.named = true
				f.value(end)
			}
			continue
		}
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			f.line = append(f.line, p...)
			return
		}
		f.line = append(f.line, p[:i+1]...)
		p = p[i+1:]
		f.header(end)
		f.line = f.line[:0]
	}
}

// header takes a line, which begins a value and may be all of it.
func (f *frames) header(end func(push string)) {
	kind, text := f.line[0], bytes.TrimRight(f.line[1:], "\r\n")
	if f.values == 0 {
		f.values, f.push, f.named, f.kind = 1, kind == '>', false, f.kind[:0]
	}
	switch kind {
	case '+', '-', ':', '_', '#', ',', '(':
		f.value(end)
		return
	}
	n, err := strconv.Atoi(string(text))
	switch {
	case err != nil, n > maxLength:
		f.lost = true
	case kind == '|': // attributes: that many pairs, before the value itself
		f.values += 2 * n
	case n < 0: // null
		f.value(end)
	case kind == '$', kind == '!', kind == '=':
		f.skip = n + len("\r\n")
	case kind == '*', kind == '~', kind == '>':
		f.values += n
		f.value(end)
	case kind == '%':
		f.values += 2 * n
		f.value(end)
	default:
		f.lost = true
	}
}

// value counts one value that has ended, or an aggregate whose values were added.
func (f *frames) value(end func(push string)) {
	if f.values--; f.values > 0 {
		return
	}
	kind := ""
	if f.push {
		kind = string(bytes.TrimRight(f.kind, "\r\n"))
		if kind == "" {
			kind = "unnamed"
		}
	}
	end(kind)
}
