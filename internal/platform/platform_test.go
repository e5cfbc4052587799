package platform_test

import (
	"reflect"
	"testing"

	"github.com/oidkit/oid/internal/platform"
)

// The deployment comes before the pod, the pod before its node, and other labels do not come.
func TestFacts(t *testing.T) {
	got := platform.Facts(map[string]string{
		"k8s.node.name": "node-3", "k8s.pod.name": "shop-7d4b9c-x2x", "team": "orders", "k8s.namespace.name": "prod", "k8s.deployment.name": "shop",
		"vcs.ref.head.revision": "9d59409a", "deployment.environment.name": "production", "k8s.job.name": "",
	})
	want := []platform.Fact{
		{"environment", "production"}, {"deployment", "shop"}, {"pod", "shop-7d4b9c-x2x"}, {"namespace", "prod"}, {"node", "node-3"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := platform.Facts(nil); got != nil {
		t.Errorf("without labels: %v", got)
	}
}
