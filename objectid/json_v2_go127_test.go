//go:build go1.28 || (go1.27 && goexperiment.jsonv2)

package objectid_test

import v2 "encoding/json/v2"

func init() {
	marshalV2 = func(v any) ([]byte, error) { return v2.Marshal(v) }
	unmarshalV2 = func(b []byte, v any) error { return v2.Unmarshal(b, v) }
}
