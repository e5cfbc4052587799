package registry_test

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
)

// named returns how many recorded processes have a label.
func named(t *testing.T, r *registry.Registry, label, value string) int {
	t.Helper()
	found, err := r.List(t.Context(), registry.Query{Labels: map[string]string{label: value}})
	if err != nil {
		t.Fatal(err)
	}
	return len(found.Processes)
}

// A heartbeat may change the description: the process is then found by the new labels, and
// another Registry, which has seen less, does not undo that.
func TestDescriptionChanges(t *testing.T) {
	s := newStore(t)
	r, other := registry.New(s, nil), registry.New(s, nil)
	p, err := r.RegisterRemote(t.Context(), remote(t, 7), &registry.RemoteOptions{Name: "python3", Version: "1", Labels: map[string]string{"k8s.pod.name": "a"}})
	if err != nil {
		t.Fatal(err)
	}
	beat := func(r *registry.Registry, d *registry.Description) error {
		return r.Heartbeats(t.Context(), []registry.RemoteHeartbeat{{Member: p.Key(), Description: d}})[0]
	}
	want := func(name, version, pod string) {
		t.Helper()
		got := statusOf(t, other, p.GPID)
		if got.Name != name || got.Version != version || got.Labels["k8s.pod.name"] != pod || len(got.Labels) != 1 || named(t, r, "k8s.pod.name", pod) != 1 {
			t.Errorf("recorded as %s %s %v, want %s %s %s", got.Name, got.Version, got.Labels, name, version, pod)
		}
	}
	for range 3 { // other remembers the living record
		if err := errors.Join(beat(r, nil), beat(other, nil)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(beat(r, nil), beat(r, nil)); err != nil { // now r remembers it
		t.Fatal(err)
	}
	if err := beat(r, &registry.Description{Name: "shop", Labels: map[string]string{"k8s.pod.name": "b"}}); err != nil {
		t.Fatal(err)
	}
	want("shop", "1", "b")
	if named(t, r, "k8s.pod.name", "a") != 0 {
		t.Error("the process is found by a label of before")
	}
	for range 20 { // a check of the claims is among them
		if err := errors.Join(beat(other, nil), beat(r, nil)); err != nil {
			t.Fatal(err)
		}
	}
	want("shop", "1", "b")
	if _, err := other.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: p.Key(), Description: &registry.Description{Version: "2", Labels: map[string]string{"k8s.pod.name": "c"}}}); err != nil {
		t.Fatal(err)
	}
	want("shop", "2", "c")

	count := statusOf(t, r, p.GPID).Last.Count
	for _, d := range []*registry.Description{{Name: "a\nb"}, {Labels: map[string]string{"": "x"}}, {Labels: map[string]string{"x": strings.Repeat("x", 201)}}} {
		_, err := r.Heartbeat(t.Context(), &registry.RemoteHeartbeat{Member: p.Key(), Description: d})
		if err := beat(r, d); !errors.Is(err, registry.ErrDescription) {
			t.Errorf("%+v: %v, want ErrDescription", d, err)
		}
		if !errors.Is(err, registry.ErrDescription) {
			t.Errorf("%+v: %v, want ErrDescription", d, err)
		}
	}
	if got := statusOf(t, r, p.GPID).Last.Count; got != count {
		t.Errorf("%d heartbeats are recorded with invalid descriptions", got-count)
	}
	want("shop", "2", "c")
	if _, err := r.End(t.Context(), p.Key(), "done", 0); err != nil {
		t.Fatal(err)
	}
	want("shop", "2", "c")
}

// This process and an adopted one are recorded with what they say of themselves; what the caller
// says counts more.
func TestSaid(t *testing.T) {
	t.Setenv("OTEL_SERVICE_NAME", "shop")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "service.version=1.4.2,k8s.pod.name=shop-1,k8s.node.name=n")
	r := registry.New(newStore(t), nil)
	check := func(p registry.Process, name, version string, labels map[string]string) {
		t.Helper()
		for _, got := range []registry.Process{p, statusOf(t, r, p.GPID).Process} {
			if got.Name != name || got.Version != version || !maps.Equal(got.Labels, labels) {
				t.Errorf("recorded as %s %s %v, want %s %s %v", got.Name, got.Version, got.Labels, name, version, labels)
			}
		}
	}
	m, err := r.Register(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	check(m.Process(), "shop", "1.4.2", map[string]string{"k8s.pod.name": "shop-1", "k8s.node.name": "n"})
	if err := m.End(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}

	cmd := exec.Command("sleep", "60")
	cmd.Env = os.Environ()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	time.Sleep(1100 * time.Millisecond) // an id of the process is not older than it
	m, err = r.Adopt(t.Context(), []objectid.ID{objectid.New()}, &registry.AdoptOptions{PID: cmd.Process.Pid, RegisterOptions: registry.RegisterOptions{
		Addr: "127.0.0.1:99", Name: "till", Labels: map[string]string{"k8s.pod.name": "mine", "team": "orders"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer finish(t, m)
	check(m.Process(), "till", "1.4.2", map[string]string{"k8s.pod.name": "mine", "team": "orders", "k8s.node.name": "n"})
}

// A process that has removed its name still has one: a server refuses processes without.
func TestProcessWithoutName(t *testing.T) {
	child := exec.Command("sh", "-c", `printf '\0' >/proc/$$/comm; echo; read -r _`)
	in, out := testenv.Must(child.StdinPipe())(t), testenv.Must(child.StdoutPipe())(t)
	testenv.NoError(t, child.Start())
	t.Cleanup(func() { in.Close(); _ = child.Wait() })
	testenv.Must(out.Read(make([]byte, 1)))(t)
	if p, err := registry.Describe(&registry.AdoptOptions{PID: child.Process.Pid}); err != nil || p.Name != "?" {
		t.Errorf("described as %q, %v", p.Name, err)
	}
}
