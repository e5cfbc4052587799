// Package towire converts values of other packages to the JSON types of package
// server/wire, for the server and for --json of the command. Most functions are named after
// the type that they return.
package towire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/server/wire"
)

// Inspections writes inspections as JSON. It is fast because it remembers the JSON of parts
// that inspections have in common. The zero value is ready to use. It must not be used by
// several goroutines at once.
type Inspections struct {
	time   phrase.Memo[time.Time]
	heads  phrase.Memo[Head]
	fields phrase.Memo[field]
}

// Head is the part of a reading that readings of several ids have in common.
type Head struct {
	Format  inspect.Format
	Variant string
	Verdict inspect.Verdict
	Reason  string
}

// HeadOf returns the head of r.
func HeadOf(r *inspect.Reading) Head { return Head{r.Format, r.Variant, r.Verdict, r.Reason} }

// field is the part of a field that fields of several ids have in common.
type field struct {
	name      string
	bit, bits int
}

// Append appends a line of JSON: the inspection r of an id that was found in a text. The
// line equals what encoding/json makes of the result of pure.Inspection, but Append is much
// faster. trace may be nil.
func (in *Inspections) Append(b []byte, r inspect.Report, found wire.Found, trace *wire.Trace) []byte {
	b = appendString(append(b, `{"found":{"source":`...), found.Source)
	b = strconv.AppendInt(append(b, `,"line":`...), int64(found.Line), 10)
	b = appendString(append(b, `,"text":`...), found.Text)
	if found.Before != "" {
		b = appendString(append(b, `,"before":`...), found.Before)
	}
	if found.After != "" {
		b = appendString(append(b, `,"after":`...), found.After)
	}
	b = appendString(append(b, `},"id":`...), r.ID)
	b = in.appendTime(append(b, `,"time":`...), r.Time)
	b = append(b, `,"readings":[`...)
	for i := range r.Readings {
		if i > 0 {
			b = append(b, ',')
		}
		reading := &r.Readings[i]
		b = in.heads.Append(b, len(reading.Reason), HeadOf(reading), appendHead)
		b = in.appendTime(b, reading.Time)
		b = append(b, `,"fields":[`...)
		for j := range reading.Fields {
			if j > 0 {
				b = append(b, ',')
			}
			f := &reading.Fields[j]
			// Each field of an ObjectId has another slot.
			b = in.fields.Append(b, (3*f.Bit+f.Bits)/8, field{f.Name, f.Bit, f.Bits}, appendField)
			b = append(append(b, f.Hex...), '"')
			if f.Number != nil {
				b = strconv.AppendUint(append(b, `,"number":`...), *f.Number, 10)
			}
			b = append(b, '}')
		}
		b = append(b, `]}`...)
	}
	b = append(b, ']')
	if trace != nil {
		b = appendJSON(append(b, `,"trace":`...), trace)
	}
	return append(b, "}\n"...)
}

// appendHead appends the JSON of a reading with head h, up to the value of its time.
func appendHead(b []byte, h Head) []byte {
	b = appendJSON(b, wire.Reading{Format: string(h.Format), Variant: h.Variant, Verdict: string(h.Verdict), Reason: h.Reason})
	return bytes.TrimSuffix(b, []byte(`null,"fields":null}`))
}

// appendField appends the JSON of a field f, up to the digits of its value.
func appendField(b []byte, f field) []byte {
	b = appendJSON(b, wire.Field{Name: f.name, Bit: f.bit, Bits: f.bits})
	return bytes.TrimSuffix(b, []byte(`"}`))
}

func (in *Inspections) appendTime(b []byte, t *time.Time) []byte {
	if t == nil {
		return append(b, "null"...)
	}
	return in.time.Append(b, 0, *t, func(b []byte, t time.Time) []byte {
		return append(t.AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
	})
}

func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return appendJSON(b, s)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// appendJSON appends v as encoding/json writes it.
func appendJSON(b []byte, v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // all types of package wire can be encoded
	}
	return append(b, bytes.TrimRight(out.Bytes(), "\n")...)
}
