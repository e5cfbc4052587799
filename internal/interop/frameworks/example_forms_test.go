package frameworks

import (
	"fmt"
	"net/url"
	"reflect"
	"time"

	"github.com/go-playground/form/v4"
	"github.com/go-viper/mapstructure/v2"
	"github.com/gofiber/fiber/v3/binder"
	"github.com/gorilla/schema"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/viper"

	"github.com/oidkit/oid/objectid"
)

// config has the ids that the examples read.
type config struct {
	Shop   objectid.ID   `form:"shop" schema:"shop" mapstructure:"shop" koanf:"shop"`
	Orders []objectid.ID `form:"orders" schema:"orders" mapstructure:"orders" koanf:"orders"`
}

var values = url.Values{"shop": {sample}, "orders": {sample, sample}}

func newGorilla() (*schema.Decoder, *schema.Encoder) {
	decoder, encoder := schema.NewDecoder(), schema.NewEncoder()
	decoder.RegisterConverter(objectid.ID{}, func(s string) reflect.Value {
		id, err := objectid.Parse(s)
		if err != nil {
			return reflect.Value{} // an error of the decoder
		}
		return reflect.ValueOf(id)
	})
	encoder.RegisterEncoder(objectid.ID{}, func(v reflect.Value) string { return v.Interface().(objectid.ID).String() })
	return decoder, encoder
}

func Example_gorilla() {
	decoder, encoder := newGorilla()
	var c config
	fmt.Println(decoder.Decode(&c, values), c)
	out := url.Values{}
	fmt.Println(encoder.Encode(c, out), out)
	fmt.Println(decoder.Decode(&c, url.Values{"orders": {"tea"}}))
	// Output:
	// <nil> {507f1f77bcf86cd799439011 [507f1f77bcf86cd799439011 507f1f77bcf86cd799439011]}
	// <nil> map[orders:[507f1f77bcf86cd799439011 507f1f77bcf86cd799439011] shop:[507f1f77bcf86cd799439011]]
	// schema: error converting value for index 0 of "orders". Details: objectid: invalid id: want 24 characters, not 3: "tea"
}

func fiberLists() {
	binder.SetParserDecoder(binder.ParserConfig{
		IgnoreUnknownKeys: true,
		ZeroEmpty:         true,
		ParserType: []binder.ParserType{{CustomType: objectid.ID{}, Converter: func(s string) reflect.Value {
			id, err := objectid.Parse(s)
			if err != nil {
				return reflect.Value{} // an error of Bind
			}
			return reflect.ValueOf(id)
		}}},
	})
}

func newForm() (*form.Decoder, *form.Encoder) {
	decoder, encoder := form.NewDecoder(), form.NewEncoder()
	decoder.RegisterCustomTypeFunc(func(s []string) (any, error) { return objectid.Parse(s[0]) }, objectid.ID{})
	encoder.RegisterCustomTypeFunc(func(v any) ([]string, error) { return []string{v.(objectid.ID).String()}, nil }, objectid.ID{})
	return decoder, encoder
}

func Example_form() {
	decoder, encoder := newForm()
	var c config
	fmt.Println(decoder.Decode(&c, values), c)
	fmt.Println(encoder.Encode(c))
	fmt.Println(decoder.Decode(&c, url.Values{"shop": {"tea"}}))
	// Output:
	// <nil> {507f1f77bcf86cd799439011 [507f1f77bcf86cd799439011 507f1f77bcf86cd799439011]}
	// map[orders[0]:[507f1f77bcf86cd799439011] orders[1]:[507f1f77bcf86cd799439011] shop:[507f1f77bcf86cd799439011]] <nil>
	// Field Namespace:shop ERROR:objectid: invalid id: want 24 characters, not 3: "tea"
}

func Example_mapstructure() {
	input := map[string]any{"shop": sample, "orders": []string{sample}}
	var c config
	decoder, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		Result:     &c,
		DecodeHook: mapstructure.TextUnmarshallerHookFunc(),
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(decoder.Decode(input), c)

	v := viper.New()
	v.Set("shop", sample)
	v.Set("orders", sample+","+sample) // as in an environment variable
	c = config{}
	hook := viper.DecodeHook(mapstructure.ComposeDecodeHookFunc(
		mapstructure.TextUnmarshallerHookFunc(),
		mapstructure.StringToTimeDurationHookFunc(),
		mapstructure.StringToWeakSliceHookFunc(","),
	))
	err = v.Unmarshal(&c, hook)
	fmt.Println(err, c)
	var times struct{ Timeout time.Duration }
	v.Set("timeout", "10s")
	fmt.Println(v.Unmarshal(&times, hook), times)

	k := koanf.New(".")
	fmt.Println(k.Set("shop", sample), k.Unmarshal("", &c), c)
	// Output:
	// <nil> {507f1f77bcf86cd799439011 [507f1f77bcf86cd799439011]}
	// <nil> {507f1f77bcf86cd799439011 [507f1f77bcf86cd799439011 507f1f77bcf86cd799439011]}
	// <nil> {10s}
	// <nil> <nil> {507f1f77bcf86cd799439011 [507f1f77bcf86cd799439011 507f1f77bcf86cd799439011]}
}
