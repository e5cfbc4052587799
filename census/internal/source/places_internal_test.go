package source

import (
	"fmt"
	"strings"
	"testing"
)

// TestManyPlaces holds that the memory for the fields with ids is bounded, whatever their names are.
func TestManyPlaces(t *testing.T) {
	var doc strings.Builder
	for i := range 3 * maxPlaces {
		fmt.Fprintf(&doc, `,"a%d":{"b%d":"507f1f77bcf86cd799439011"}`, i, i)
	}
	if n := len(new(Batch).placesIn(jsonValue([]byte("{"+doc.String()[1:]+"}")), 0)); n != maxPlaces {
		t.Errorf("%d fields, want %d", n, maxPlaces)
	}
}
