package objectid

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// MarshalJSON returns the 24 digits as a JSON string, or null for the zero ID.
// The error is always nil.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.IsZero() {
		return []byte("null"), nil
	}
	b := make([]byte, 0, hexSize+2)
	b = append(b, '"')
	b, _ = id.AppendText(b)
	return append(b, '"'), nil
}

// UnmarshalJSON reads a JSON string of 24 digits, the form {"$oid":"..."} of
// MongoDB's Extended JSON with exactly that one member, or null, which sets the
// zero ID. Everything else is an error that wraps [ErrInvalid], and id is then
// left unchanged.
func (id *ID) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	if string(data) == "null" {
		*id = ID{}
		return nil
	}
	if len(data) > 0 && data[0] == '{' {
		hex, err := oidMember(data)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrInvalid, err)
		}
		data = hex
	}
	if len(data) == 0 || data[0] != '"' {
		return fmt.Errorf(`%w: JSON %s, want a string of 24 digits, {"$oid":"..."} or null`, ErrInvalid, quote(string(data)))
	}
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return id.Set(s)
}

// oidMember returns the value of the only member of the JSON object data, which
// must be called $oid. It reads tokens because decoding into a struct would
// also take $OID, a second $oid or further members.
func oidMember(data []byte) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if !d.More() {
		return nil, fmt.Errorf(`JSON {}, want {"$oid":"..."}`)
	}
	key, err := d.Token()
	if err != nil {
		return nil, err
	}
	if key != "$oid" {
		return nil, fmt.Errorf(`JSON member %q, want "$oid" alone`, key)
	}
	var value json.RawMessage
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, fmt.Errorf(`JSON object with more members than "$oid"`)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("data after the JSON object")
	}
	if bytes.Equal(value, []byte("null")) {
		return nil, fmt.Errorf(`JSON {"$oid":null}, want 24 digits or a plain null`)
	}
	return value, nil
}
