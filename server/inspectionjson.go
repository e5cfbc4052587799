package server

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/oidkit/oid/server/wire"
)

// writeInspection writes in as encoding/json does, in a fraction of the time: of all
// answers this is the one that programs ask for most.
func writeInspection(w io.Writer, in *wire.Inspection) error {
	b := inspectionBuffers.Get().(*inspectionBuffer)
	defer inspectionBuffers.Put(b)
	b.out, b.err = b.out[:0], nil
	b.inspection(in)
	if b.err != nil {
		return b.err
	}
	_, err := w.Write(b.out)
	return err
}

// inspectionBuffer is JSON that grows, and the first error.
type inspectionBuffer struct {
	out []byte
	err error
}

var inspectionBuffers = sync.Pool{New: func() any { return new(inspectionBuffer) }}

func (b *inspectionBuffer) inspection(in *wire.Inspection) {
	b.raw("{")
	if in.Found != nil {
		b.raw(`"found":`).value(in.Found).raw(",")
	}
	b.raw(`"id":`).text(in.ID).raw(`,"time":`).time(in.Time).raw(`,"readings":[`)
	for i := range in.Readings {
		if i > 0 {
			b.raw(",")
		}
		b.reading(&in.Readings[i])
	}
	b.raw("]")
	if in.Trace != nil {
		b.raw(`,"trace":`).value(in.Trace)
	}
	if in.TraceError != "" {
		b.raw(`,"trace_error":`).text(in.TraceError)
	}
	b.raw("}\n")
}

func (b *inspectionBuffer) reading(r *wire.Reading) {
	b.raw(`{"format":`).text(r.Format)
	if r.Variant != "" {
		b.raw(`,"variant":`).text(r.Variant)
	}
	b.raw(`,"verdict":`).text(r.Verdict).raw(`,"reason":`).text(r.Reason).raw(`,"time":`).time(r.Time).raw(`,"fields":[`)
	for i, f := range r.Fields {
		if i > 0 {
			b.raw(",")
		}
		b.raw(`{"name":`).text(f.Name).raw(`,"bit":`).number(uint64(f.Bit)).raw(`,"bits":`).number(uint64(f.Bits)).raw(`,"hex":`).text(f.Hex)
		if f.Number != nil {
			b.raw(`,"number":`).number(*f.Number)
		}
		b.raw("}")
	}
	b.raw("]}")
}

func (b *inspectionBuffer) raw(s string) *inspectionBuffer {
	b.out = append(b.out, s...)
	return b
}

func (b *inspectionBuffer) number(n uint64) *inspectionBuffer {
	b.out = strconv.AppendUint(b.out, n, 10)
	return b
}

func (b *inspectionBuffer) time(t *time.Time) *inspectionBuffer {
	if t == nil {
		return b.raw("null")
	}
	b.out = append(t.AppendFormat(append(b.out, '"'), time.RFC3339Nano), '"')
	return b
}

// text writes a string, which has seldom something to escape.
func (b *inspectionBuffer) text(s string) *inspectionBuffer {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return b.value(s)
		}
	}
	b.out = append(append(append(b.out, '"'), s...), '"')
	return b
}

// value writes any other value.
func (b *inspectionBuffer) value(v any) *inspectionBuffer {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		b.err = err
	}
	b.out = append(b.out, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
	return b
}
