package server

import (
	"encoding/json"
	"reflect"
	"testing"
)

// plainIntegers changes how numbers are written, and nothing else: the JSON stays valid and
// has the same values.
func FuzzPlainIntegers(f *testing.F) {
	for _, text := range []string{`{"a":1e4,"b":[10000.0,-0.0,1e-400,1e400,1.5,20e-1]}`, `"1e4\\\"1e1\""`, `9007199254740993`, `[1e18,1E+18,-1e18,9.3e18,"\u0031e1"]`, `1e1 `} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var before, after any
		if json.Unmarshal([]byte(text), &before) != nil {
			t.Skip()
		}
		plain := plainIntegers([]byte(text))
		if err := json.Unmarshal(plain, &after); err != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%s became %s: %v", text, plain, err)
		}
	})
}
