package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// formats are those of package huma, with errors that do not mention Go's types.
var formats = func() map[string]huma.Format {
	out := maps.Clone(huma.DefaultFormats)
	for name, f := range out {
		unmarshal := f.Unmarshal
		f.Unmarshal = func(data []byte, v any) error { return plainError(unmarshal(data, v)) }
		out[name] = f
	}
	return out
}()

// plainError says what is wrong with JSON in its own words.
func plainError(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		place := wrong.Field
		if place != "" {
			place += ": "
		}
		return fmt.Errorf("%sexpected %s, not %s", place, jsonType(wrong.Type), wrong.Value)
	}
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("not valid JSON at byte %d: %w", wrong.Offset, wrong)
	}
	if err != nil {
		_, text, found := strings.Cut(err.Error(), ": ") // the name of the package
		if found && !strings.Contains(text, "Go ") {
			return errors.New(text)
		}
	}
	return err
}

// jsonType is what values of a type are in JSON.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "an integer without a decimal point"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	}
	return "an object"
}
