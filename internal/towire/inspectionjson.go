package towire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/server/wire"
)

// AppendInspection appends r, which was found in a text, as the line of JSON that
// encoding/json makes of [Inspection], in a fifth of the time.
func AppendInspection(b []byte, r inspect.Report, found wire.Found, trace *wire.Trace) []byte {
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
	b = appendTime(append(b, `,"time":`...), r.Time)
	b = append(b, `,"readings":[`...)
	for i, reading := range r.Readings {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(b, `{"format":`...), string(reading.Format))
		if reading.Variant != "" {
			b = appendString(append(b, `,"variant":`...), reading.Variant)
		}
		b = appendString(append(b, `,"verdict":`...), string(reading.Verdict))
		b = appendString(append(b, `,"reason":`...), reading.Reason)
		b = appendTime(append(b, `,"time":`...), reading.Time)
		b = append(b, `,"fields":[`...)
		for j, f := range reading.Fields {
			if j > 0 {
				b = append(b, ',')
			}
			b = appendString(append(b, `{"name":`...), f.Name)
			b = strconv.AppendInt(append(b, `,"bit":`...), int64(f.Bit), 10)
			b = strconv.AppendInt(append(b, `,"bits":`...), int64(f.Bits), 10)
			b = appendString(append(b, `,"hex":`...), f.Hex)
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

func appendTime(b []byte, t *time.Time) []byte {
	if t == nil {
		return append(b, "null"...)
	}
	return append(t.AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
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
		panic(err) // all of package wire is JSON
	}
	return append(b, bytes.TrimRight(out.Bytes(), "\n")...)
}
