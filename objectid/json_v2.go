//go:build go1.28 || (go1.27 && goexperiment.jsonv2)

package objectid

import "encoding/json/jsontext"

// MarshalJSONTo writes what [ID.MarshalJSON] returns, for encoding/json/v2. As a key of a map the
// zero ID is 24 zeros, since null cannot be one.
func (id ID) MarshalJSONTo(e *jsontext.Encoder) error {
	kind, n := e.StackIndex(e.StackDepth())
	return e.WriteValue(id.json(kind == '{' && n%2 == 0)) // names and values take turns
}
