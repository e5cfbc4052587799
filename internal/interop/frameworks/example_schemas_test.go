package frameworks

import (
	"reflect"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3gen"
	google "github.com/google/jsonschema-go/jsonschema"
	"github.com/invopop/jsonschema"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/oidkit/oid/objectid"
)

func invopopReflector() *jsonschema.Reflector {
	reflector := &jsonschema.Reflector{Mapper: func(t reflect.Type) *jsonschema.Schema {
		if t == reflect.TypeFor[objectid.ID]() {
			return &jsonschema.Schema{Type: "string", Pattern: "^[0-9a-f]{24}$"}
		}
		return nil
	}}
	return reflector
}

func googleOptions() *google.ForOptions {
	options := &google.ForOptions{TypeSchemas: map[reflect.Type]*google.Schema{
		reflect.TypeFor[objectid.ID](): {Type: "string", Pattern: "^[0-9a-f]{24}$"},
	}}
	return options
}

func kinOption() openapi3gen.Option {
	customize := openapi3gen.SchemaCustomizer(func(_ string, t reflect.Type, _ reflect.StructTag, schema *openapi3.Schema) error {
		if t == reflect.TypeFor[objectid.ID]() {
			schema.Type, schema.Pattern = &openapi3.Types{"string"}, "^[0-9a-f]{24}$"
		}
		return nil
	})
	return customize
}

func protobuf(id objectid.ID) (*wrapperspb.BytesValue, objectid.ID, error) {
	message := &wrapperspb.BytesValue{Value: id.Bytes()}
	read, err := objectid.FromBytes(message.GetValue())
	return message, read, err
}
