// Package documents reads and writes documents as lines of Extended JSON.
package documents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
)

// Parse reads a document in Extended JSON, relaxed or canonical.
func Parse(text []byte) (bson.D, error) {
	text = bytes.TrimSpace(text)
	// The BSON library stops at the end of the first value and takes what
	// follows for nothing.
	switch {
	case !utf8.Valid(text):
		return nil, errors.New("not UTF-8")
	case !json.Valid(text):
		var value json.RawMessage
		return nil, fmt.Errorf("not JSON: %w", json.Unmarshal(text, &value))
	case text[0] != '{':
		return nil, errors.New("not a JSON object")
	}
	var doc bson.D
	if err := bson.UnmarshalExtJSON(text, false, &doc); err != nil {
		return nil, fmt.Errorf("not Extended JSON: %w", err)
	}
	return doc, nil
}

// AsLine returns doc as relaxed Extended JSON and a newline.
func AsLine(doc bson.Raw) ([]byte, error) {
	line, err := bson.MarshalExtJSON(doc, false, false)
	if err != nil {
		return nil, fmt.Errorf("write a document as JSON: %w", err)
	}
	return append(line, '\n'), nil
}

// KeyLine returns key as the commands print it, or with asJSON as a document of
// its own.
func KeyLine(key store.Key, asJSON bool) ([]byte, error) {
	if !asJSON {
		return []byte(key.String() + "\n"), nil
	}
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: key}})
	if err != nil {
		return nil, err
	}
	return AsLine(doc)
}
