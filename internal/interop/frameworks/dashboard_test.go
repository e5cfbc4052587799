package frameworks

import (
	"os"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"github.com/oidkit/oid/internal/testenv"
)

// Grafana's own types know every field of the dashboard of locks, and miss none.
func TestDashboard(t *testing.T) {
	plugins.RegisterDefaultPlugins()
	text := testenv.Must(os.ReadFile("../../../examples/deploy/locks-dashboard.json"))(t)
	var d dashboard.Dashboard
	for _, err := range []error{d.UnmarshalJSONStrict(text), d.Validate()} {
		if err != nil && err.Error() != "" { // a list of errors, which may be empty
			t.Error(err)
		}
	}
}
