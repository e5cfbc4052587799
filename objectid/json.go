package objectid

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// MarshalJSON returns the digits as a string, or null for the zero ID.
func (id ID) MarshalJSON() ([]byte, error) { return id.json(false), nil }

// json returns the digits as a string, or null for the zero ID unless it is the name of a
// member, which must be a string.
func (id ID) json(isName bool) []byte {
	if id.IsZero() && !isName {
		return []byte("null")
	}
	b := make([]byte, 0, hexSize+2)
	b = append(b, '"')
	b, _ = id.AppendText(b)
	return append(b, '"')
}

// UnmarshalJSON reads a string of 24 digits, {"$oid":"..."} without other members, or null as
// the zero ID.
func (id *ID) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	if string(data) == "null" {
		*id = ID{}
		return nil
	}
	var s string
	ok := false
	if len(data) > 0 && data[0] == '{' {
		s, ok = oidMember(data)
	} else {
		ok = json.Unmarshal(data, &s) == nil
	}
	if !ok {
		return fmt.Errorf(`%w: JSON %s, want a string of 24 digits, {"$oid":"..."} without other members, or null`, ErrInvalid, quote(string(data)))
	}
	return id.Set(s)
}

// oidMember returns the value of the only member of the JSON object data, which
// must be called $oid. It reads tokens because decoding into a struct would
// also take $OID, a second $oid or further members.
func oidMember(data []byte) (value string, ok bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	var tokens [4]json.Token
	for i := range tokens {
		tokens[i], _ = d.Token() // nil after an error
	}
	_, err := d.Token()
	value, ok = tokens[2].(string)
	return value, ok && tokens[0] == json.Delim('{') && tokens[1] == "$oid" && tokens[3] == json.Delim('}') && err == io.EOF
}
