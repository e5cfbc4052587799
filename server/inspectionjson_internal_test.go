package server

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/internal/towire"
	"github.com/oidkit/oid/server/wire"
)

// Inspections are written as encoding/json writes them: those of ids of all kinds, one
// with a value in every field there is, and one with none.
func TestInspectionJSON(t *testing.T) {
	full := filled(t, reflect.TypeFor[wire.Inspection]()).Interface().(wire.Inspection)
	full.Readings = append(full.Readings, full.Readings[0], wire.Reading{Fields: []wire.Field{}})
	full.Readings[1].Fields = append(full.Readings[1].Fields, wire.Field{})
	all := []wire.Inspection{full, {Readings: []wire.Reading{}}}
	for _, text := range []string{"", "~", "\x7f", "\n", `\`, `"`, "<&>", "é\u2028", "\xff"} {
		all = append(all, wire.Inspection{ID: text, Readings: []wire.Reading{}, TraceError: text})
	}
	for _, id := range []string{
		"507f1f77bcf86cd799439011", "6592008f0000000000000000", "c232ab00-9414-11ec-b3c8-9f6bdeced846", "01ARZ3NDEKTSV4RRFFQ69G5FAV",
		"0ujtsYcgvSTl8PAuAdqWYSMnLOv", "9m4e2mr0ui3e8a215n4g", "1541815603606036480", "user_2x4y6z8a0b1c2d3e4f5g6h7j8k", "-JhLeOlGIEjaIOFHR0xd",
	} {
		report, err := inspect.Inspect(id, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, towire.Inspection(report))
	}
	for _, in := range all {
		var got, want bytes.Buffer
		if err := formats["application/json"].Marshal(&got, in); err != nil {
			t.Fatal(err)
		}
		if err := huma.DefaultJSONFormat.Marshal(&want, in); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("got  %s\nwant %s", &got, &want)
		}
	}
}

// An inspection that cannot be encoded does not keep the next ones from being written.
func TestInspectionJSONAfterAnError(t *testing.T) {
	far := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 10 {
		var out bytes.Buffer
		if err := writeInspection(&out, &wire.Inspection{Trace: &wire.Trace{Before: &wire.Sample{Time: far}}}); err == nil || out.Len() > 0 {
			t.Fatalf("a time in the year 10000: %v, %q", err, &out)
		}
		if err := writeInspection(&out, &wire.Inspection{}); err != nil {
			t.Fatal(err)
		}
	}
}

// filled returns a value of a type in which nothing is zero.
func filled(t *testing.T, kind reflect.Type) reflect.Value {
	v := reflect.New(kind).Elem()
	if kind == reflect.TypeFor[time.Time]() {
		return reflect.ValueOf(time.Date(2026, 11, 22, 12, 30, 15, 123456789, time.UTC))
	}
	switch kind.Kind() {
	case reflect.Struct:
		for i := range kind.NumField() {
			v.Field(i).Set(filled(t, kind.Field(i).Type))
		}
	case reflect.Pointer:
		v.Set(reflect.New(kind.Elem()))
		v.Elem().Set(filled(t, kind.Elem()))
	case reflect.Slice:
		v.Set(reflect.Append(v, filled(t, kind.Elem())))
	case reflect.Map:
		v.Set(reflect.MakeMap(kind))
		v.SetMapIndex(filled(t, kind.Key()), filled(t, kind.Elem()))
	case reflect.Array:
		for i := range v.Len() {
			v.Index(i).Set(filled(t, kind.Elem()))
		}
	case reflect.String:
		v.SetString(`<"&é>`)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1.5)
	default:
		switch {
		case v.CanInt():
			v.SetInt(7)
		case v.CanUint():
			v.SetUint(1 << 7)
		default:
			t.Fatalf("a value of type %v", kind)
		}
	}
	return v
}
