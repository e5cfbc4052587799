package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store/sqlitestore"
)

// node is what the agent and the pods of a node share.
type node struct {
	t       *testing.T
	folder  string // "run" in it is the folder of the socket, "pod" is where a pod mounts it
	program string // oid, which every user can run
}

// newNode returns a node whose folder belongs to a user.
func newNode(t *testing.T, user int) *node {
	t.Helper()
	testenv.Long(t, "starts agents and programs in Python")
	if os.Getuid() != 0 {
		t.Skip("needs root, for namespaces")
	}
	for program, from := range map[string]string{"unshare": "util-linux", "setpriv": "util-linux", "python3": "python3"} {
		testenv.Program(t, program, from)
	}
	if err := exec.Command("/usr/bin/python3", "-c", "import bson").Run(); err != nil {
		testenv.Missing(t, "python3-pymongo is not installed; .ci/setup installs it")
	}
	folder, err := os.MkdirTemp("", "oid-node-")
	if err != nil {
		t.Fatal(err)
	}
	n := &node{t: t, folder: folder, program: filepath.Join(folder, "oid")}
	t.Cleanup(func() {
		for _, pid := range n.pids("") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		os.RemoveAll(folder)
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	app := testenv.DocBlock(t, adoptPage, "python", 0, "/run/oid/agent.sock", folder+"/pod/agent.sock")
	script := fmt.Sprintf("cp %s %s; mkdir run pod; cat > app.py; chown %d . run; chmod 755 .", self, n.program, user)
	setUp := exec.Command("sh", "-ec", script)
	setUp.Dir, setUp.Stdin = folder, strings.NewReader(app)
	testenv.Run(t, setUp)
	return n
}

// pids returns the processes of the node whose command line begins with a text.
func (n *node) pids(begin string) (found []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range all {
		line, _ := os.ReadFile(name)
		text := strings.ReplaceAll(string(line), "\x00", " ")
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil && strings.Contains(text, n.folder) && strings.HasPrefix(text, begin) {
			found = append(found, pid)
		}
	}
	return found
}

// signal sends a signal to the processes whose command line begins with a text.
func (n *node) signal(signal syscall.Signal, begin string) {
	n.t.Helper()
	all := n.pids(begin)
	if len(all) == 0 {
		n.t.Errorf("no %q runs", begin)
	}
	for _, pid := range all {
		_ = syscall.Kill(pid, signal)
	}
}

// start runs a shell script on the node. Its output is in a file with the name.
func (n *node) start(name, script string) *exec.Cmd {
	n.t.Helper()
	out, err := os.OpenFile(filepath.Join(n.folder, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		n.t.Fatal(err)
	}
	defer out.Close()
	c := exec.CommandContext(context.WithoutCancel(n.t.Context()), "sh", "-ec", script)
	c.Dir, c.Stdout, c.Stderr = n.folder, out, out
	if err := c.Start(); err != nil {
		n.t.Fatal(err)
	}
	go c.Wait()
	return c
}

// agent returns the command of the agent with the capabilities of a manifest.
func (n *node) agent(manifest string, user int) string {
	n.t.Helper()
	var caps strings.Builder
	caps.WriteString("-all")
	if added := regexp.MustCompile(`add: \[(.*)\]`).FindStringSubmatch(manifest); added != nil {
		for name := range strings.SplitSeq(added[1], ", ") {
			caps.WriteString(",+" + strings.ToLower(name))
		}
	}
	return fmt.Sprintf("setpriv --reuid=%d --regid=%[1]d --clear-groups --bounding-set=%s --inh-caps=-all --no-new-privs %s agent --store sqlite:%s/store.db --listen %[4]s/run/agent.sock --state %[4]s/run/agent.state", user, caps.String(), n.program, n.folder)
}

// app returns the command of the service in a pod, with the environment of a manifest as kubelet
// expands it.
func (n *node) app(manifest, pod string) string {
	n.t.Helper()
	var env strings.Builder
	env.WriteString("env")
	for _, v := range regexp.MustCompile(`(?ms)name: (OTEL_\w+)(?:, |\s+)value: ("(?:[^"]*)"|\w+)`).FindAllStringSubmatch(manifest, -1) {
		value := regexp.MustCompile(`\\\n\s*`).ReplaceAllString(strings.Trim(v[2], `"`), "")
		value = regexp.MustCompile(`\$\((\w+)\)`).ReplaceAllStringFunc(value, func(name string) string {
			name = strings.Trim(name, "$()")
			path := regexp.MustCompile(`name: ` + name + `, valueFrom: \{fieldRef: \{fieldPath: ([\w.]+)\}\}`).FindStringSubmatch(manifest)
			if path == nil {
				n.t.Fatalf("no field for $(%s)", name)
			}
			return map[string]string{"metadata.name": pod, "metadata.uid": "uid-of-" + pod, "metadata.namespace": "web", "spec.nodeName": "node-1"}[path[1]]
		})
		env.WriteString(" " + v[1] + "=" + value)
	}
	return "setpriv --reuid=10001 --regid=10001 --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs " + env.String() + " " + n.python() + " " + pod
}

// python returns the beginning of the command line of a service.
func (n *node) python() string { return "/usr/bin/python3 " + n.folder + "/app.py" }

// inPod runs a script as the first process of new namespaces, in which the folder of the socket is mounted
// read-only.
func (n *node) inPod(pod, script string) {
	n.t.Helper()
	n.start(pod+".log", fmt.Sprintf(`exec unshare --pid --net --mount --uts --ipc --fork --mount-proc sh -ec 'mount --bind run pod; mount -o remount,bind,ro pod; hostname %s; %s'`, pod, script))
}

// lastID returns the newest id that a pod has printed, or one that is zero.
func (n *node) lastID(pod string) (id objectid.ID) {
	text, _ := os.ReadFile(filepath.Join(n.folder, pod+".log"))
	for line := range strings.SplitSeq(string(text), "\n") {
		if found, err := objectid.Parse(line); err == nil {
			id = found
		}
	}
	return id
}

// await waits until the trace of the newest id of a pod is as wanted, and returns the process.
func (n *node) await(pod, what string, want func(registry.Status) bool) (found registry.Status) {
	n.t.Helper()
	defer func() {
		if n.t.Failed() {
			agent, _ := os.ReadFile(n.folder + "/agent.log")
			log, _ := os.ReadFile(filepath.Join(n.folder, pod+".log"))
			n.t.Logf("agent: %s\n%s: %s", agent, pod, log)
		}
	}()
	testenv.Await(n.t, pod+": "+what, func() error {
		s, err := sqlitestore.Open(n.t.Context(), n.folder+"/store.db", &sqlitestore.Options{ReadOnly: true})
		if err != nil {
			return err
		}
		defer s.Close()
		id := n.lastID(pod)
		trace, err := registry.New(s, nil).Trace(n.t.Context(), id)
		if err != nil {
			return err
		}
		if len(trace.Processes) != 1 || trace.Verdict != registry.Claimed || !want(trace.Processes[0]) {
			return fmt.Errorf("%v: %v, %+v", id, trace.Verdict, trace.Processes)
		}
		found = trace.Processes[0]
		return nil
	})
	if l := found.Labels; found.Name != "shop" || found.Version != "1.0" || l["k8s.pod.name"] != pod || l["k8s.pod.uid"] != "uid-of-"+pod || l["k8s.namespace.name"] != "web" || l["k8s.node.name"] != "node-1" || l["k8s.deployment.name"] != "shop" {
		n.t.Errorf("%s: %s %s, labels %v", pod, found.Name, found.Version, l)
	}
	return found
}

func isAlive(p registry.Status) bool { return p.State == registry.Alive }
func isEnded(p registry.Status) bool { return p.State == registry.Ended }

// One agent on a node records the services of pods, which have process, network and mount namespaces of
// their own, another user and a read-only mount of the socket's folder. It is updated while they run.
func TestKubernetesDaemonSet(t *testing.T) {
	n := newNode(t, 0)
	agent, manifest := n.agent(string(ofExamples(t, "daemonset.yaml")), 0), string(ofExamples(t, "pod.yaml"))
	n.inPod("shop-1", "exec "+n.app(manifest, "shop-1")) // before the agent
	running := n.start("agent.log", "exec "+agent)
	n.inPod("shop-2", "exec "+n.app(manifest, "shop-2"))
	one := n.await("shop-1", "recorded", isAlive)
	two := n.await("shop-2", "recorded", isAlive)
	if one.GPID == two.GPID {
		t.Errorf("both are %v", one.GPID)
	}
	n.signal(syscall.SIGKILL, n.python()+" shop-1")
	n.await("shop-1", "its end", isEnded)

	update := func() {
		t.Helper()
		_ = running.Process.Signal(syscall.SIGTERM)
		testenv.Await(t, "end of the agent", func() error {
			if left := n.pids(n.program + " agent"); len(left) > 0 {
				return fmt.Errorf("%v run", left)
			}
			return nil
		})
		running = n.start("agent.log", "exec "+agent)
	}
	update()
	since := time.Now()
	again := n.await("shop-2", "its heartbeat after the update", func(p registry.Status) bool { return isAlive(p) && p.Last.Time.After(since) })
	if again.GPID != two.GPID || again.Member != two.Member {
		t.Errorf("after the update %v %v, before %v %v", again.GPID, again.Member, two.GPID, two.Member)
	}
	n.signal(syscall.SIGTERM, n.python()+" shop-2") // the node is drained
	n.signal(syscall.SIGKILL, n.python()+" shop-2") // the first process of a namespace ignores SIGTERM
	n.await("shop-2", "its end", isEnded)
}

// An agent in the pod of a service sees it by the shared process namespace, without any capability. Both are
// restarted.
func TestKubernetesSidecar(t *testing.T) {
	const user = 10001
	n := newNode(t, user)
	manifest := string(ofExamples(t, "sidecar.yaml"))
	restarting := func(command string) string { return "(while :; do " + command + " || sleep 0.2; done) &" }
	n.inPod("shop-3", restarting(n.agent(manifest, user)+" >> agent.log 2>&1")+restarting(n.app(manifest, "shop-3"))+" wait")
	first := n.await("shop-3", "recorded", isAlive)
	n.signal(syscall.SIGKILL, n.program+" agent")
	since := time.Now()
	again := n.await("shop-3", "its heartbeat after a restart of the agent", func(p registry.Status) bool { return isAlive(p) && p.Last.Time.After(since) })
	if again.Member != first.Member {
		t.Errorf("after a restart of the agent %v, before %v", again.Member, first.Member)
	}
	id := n.lastID("shop-3")
	n.signal(syscall.SIGKILL, n.python()+" shop-3")
	second := n.await("shop-3", "the service that was restarted", func(p registry.Status) bool { return isAlive(p) && p.Member != first.Member })
	s, err := sqlitestore.Open(t.Context(), n.folder+"/store.db", &sqlitestore.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	trace, err := registry.New(s, nil).Trace(t.Context(), id)
	if err != nil || len(trace.Processes) != 1 || trace.Processes[0].Member != first.Member || !isEnded(trace.Processes[0]) || second.GPID == first.GPID {
		t.Errorf("the first service: %+v, %v", trace, err)
	}
}
