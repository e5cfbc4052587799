package agent_test

import (
	"syscall"
	"testing"

	"github.com/oidkit/oid/registry"
)

// What a process says of itself is recorded, what its line says counts more, and what it
// publishes later is recorded with a heartbeat, also after the agent was started again.
func TestSaid(t *testing.T) {
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=no,service.version=1.4.2,k8s.pod.name=shop-1")
	h := newHost(t)
	c, unnamed := client(t, h.socket), client(t, h.socket)
	id, _ := c.join("name=shop")
	second, _ := unnamed.join("")
	want := func(name, version, pod string) {
		t.Helper()
		eventually(t, "the description "+name+" "+version+" "+pod, func() bool {
			p := h.one(id)
			return p.Name == name && p.Version == version && p.Labels["k8s.pod.name"] == pod && len(p.Labels) == 1
		})
	}
	want("shop", "1.4.2", "shop-1")
	if p := h.one(second); p.Name != "no" {
		t.Errorf("without a name in its line, the process is called %q, want that of its environment", p.Name)
	}
	c.do("publish k8s.pod.name=shop-2")
	want("shop", "1.4.2", "shop-2")
	if p := h.one(second); p.Labels["k8s.pod.name"] != "shop-1" {
		t.Errorf("the other process has the labels %v", p.Labels)
	}
	h.agent.signal(syscall.SIGKILL)
	h.startAgent()
	c.do("publish service.version=2,k8s.pod.name=shop-3")
	want("shop", "2", "shop-3")
	if found, err := h.registry.List(t.Context(), registry.Query{Labels: map[string]string{"k8s.pod.name": "shop-3"}}); err != nil || len(found.Processes) != 1 {
		t.Errorf("found by the new label: %d processes, %v, want 1", len(found.Processes), err)
	}
}
