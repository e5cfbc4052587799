package server

import (
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/census/source"
	"github.com/oidkit/oid/inspect"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// Parameters of requests that are names of an enumeration.
type (
	layoutName string
	stateName  string
	formatName string
	stepName   string
)

// Schema implements huma.SchemaProvider.
func (layoutName) Schema(huma.Registry) *huma.Schema { return enumeration(objectid.Layouts) }

// Schema implements huma.SchemaProvider.
func (stateName) Schema(huma.Registry) *huma.Schema { return enumeration(registry.States) }

// Schema implements huma.SchemaProvider.
func (formatName) Schema(huma.Registry) *huma.Schema { return enumeration(source.Formats) }

// Schema implements huma.SchemaProvider.
func (stepName) Schema(huma.Registry) *huma.Schema { return enumeration(census.Steps) }

func enumeration[E any](values []E) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, v := range values {
		s.Enum = append(s.Enum, fmt.Sprint(v))
	}
	return s
}

// describeEnumerations adds the values of enumerations to the schemas of package
// wire, whose types do not know them.
func describeEnumerations(schemas huma.Registry) {
	for _, e := range []struct {
		schema, property string
		values           *huma.Schema
	}{
		{"Process", "state", enumeration(registry.States)},
		{"Trace", "verdict", enumeration(registry.Verdicts)},
		{"Reading", "verdict", enumeration(inspect.Verdicts)},
		{"Reading", "format", enumeration(inspect.Formats)},
		{"CensusSource", "format", enumeration(source.Formats)},
		{"CensusProcess", "layout", enumeration(objectid.Layouts)},
		{"Timeline", "by", enumeration(census.Steps)},
		{"Finding", "kind", enumeration(census.Kinds)},
		{"Adopted", "evidence", enumeration(registry.Evidences)},
		{"AddedSamples", "layout", enumeration(objectid.Layouts)},
		{"Registration", "layout", enumeration(objectid.Layouts)},
	} {
		property := schemas.Map()[e.schema].Properties[e.property]
		property.Enum = e.values.Enum
		property.PrecomputeMessages()
	}
}
