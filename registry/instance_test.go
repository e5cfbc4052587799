package registry_test

import (
	"testing"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

func TestInstanceID(t *testing.T) {
	own := gpid.MustParse("10.0.0.7:8080:1700000000000000:4711")
	label := map[string]string{"service.instance.id": "shop-1"}
	for name, c := range map[string]struct {
		p    registry.Process
		want string
	}{
		"registered":           {registry.Process{GPID: own}, "007765ba-458a-5bc3-bd96-ad92fa9841e5"},
		"registered with one":  {registry.Process{GPID: own, Labels: label}, "shop-1"},
		"adopted":              {registry.Process{GPID: own, EvidenceID: objectid.New()}, ""},
		"adopted with a label": {registry.Process{GPID: own, EvidenceID: objectid.New(), Labels: label}, "shop-1"},
	} {
		if got := c.p.InstanceID(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
