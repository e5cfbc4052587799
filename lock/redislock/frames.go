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
	lost   bool   // something is no such protocol: whoever reads it will say so

	push  bool   // the frame is a message and no reply
	size  int    // of the frame, if it is an array or a message
	first []byte // string in it: the command of a request, the kind of a message
	named bool   // first is complete
}

// maxLength is far above the length of anything that a Redis sends.
const maxLength = 1 << 30

// maxFirst is more than the first strings have that are looked at.
const maxFirst = 64

// feed takes the next bytes of the stream and calls end at the end of every frame
// that ends in them, when f tells of that frame.
func (f *frames) feed(p []byte, end func()) {
	for len(p) > 0 && !f.lost {
		if f.skip > 0 {
			n := min(f.skip, len(p))
			if !f.named && len(f.first) < maxFirst {
				f.first = append(f.first, p[:n]...)
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
func (f *frames) header(end func()) {
	kind, text := f.line[0], bytes.TrimRight(f.line[1:], "\r\n")
	if f.values == 0 {
		f.values, f.push, f.size, f.named, f.first = 1, kind == '>', 0, false, f.first[:0]
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
		if f.values == 1 && f.size == 0 {
			f.size = n
		}
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
func (f *frames) value(end func()) {
	if f.values--; f.values == 0 {
		end()
	}
}

// replies returns how many replies a request has.
func (f *frames) replies() int64 {
	switch name := bytes.TrimRight(f.first, "\r\n"); {
	case bytes.EqualFold(name, []byte("subscribe")), bytes.EqualFold(name, []byte("unsubscribe")):
		return int64(f.size - 1) // one for each channel
	}
	return 1
}

// reply reports whether the frame is a reply, or a message that stands for one.
func (f *frames) reply() bool {
	if !f.push {
		return true
	}
	name := string(bytes.TrimRight(f.first, "\r\n"))
	return name == "subscribe" || name == "unsubscribe"
}
