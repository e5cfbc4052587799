package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
)

// instrumented is a service: it says what it is in one of several ways, and tells the agent an id.
const instrumented = `
import os, socket, sys, time
said, agent, id = sys.argv[1:]
if said == "sdk":
    from opentelemetry.sdk.resources import Resource
    import publish
    publish.resource(Resource.create({"service.instance.id": "b4c7f0a2-0d0f-4f5e-9a44-7c9a1d6a1c11"}).attributes)
elif said == "mapping":
    import publish
    publish.resource({"service.name": "shop", "service.version": "1.4.2", "service.instance.id": "b4c7f0a2-0d0f-4f5e-9a44-7c9a1d6a1c11",
        "k8s.pod.name": "shop-7d9c-abcde", "k8s.namespace.name": "payments", "k8s.deployment.name": "shop"})
elif said == "ddtrace":
    import ddtrace
    ddtrace.tracer.trace("start").finish()
    for _ in range(100):
        if "OTEL_CTX" in open("/proc/self/maps").read():
            break
        time.sleep(0.1)
s = socket.socket(socket.AF_UNIX)
s.connect(agent)
s.sendall(b"oid1 %s\n" % id.encode())
print(s.recv(200).decode(), end="", flush=True)
time.sleep(600)
`

// An instrumented service in a PID namespace is killed. One of its ids leads to its pod, version
// and instance, and to the link to its logs.
func TestInstrumentedService(t *testing.T) {
	python := testenv.Program(t, "python3", "python3")
	if os.Getuid() != 0 {
		t.Skip("needs root, for a PID namespace")
	}
	const kubernetes = "OTEL_RESOURCE_ATTRIBUTES=service.version=1.4.2,k8s.pod.name=shop-7d9c-abcde,k8s.namespace.name=payments,k8s.deployment.name=shop"
	for said, c := range map[string]struct {
		env      []string
		packages [2]string
		want     []string
	}{
		"environment": {env: []string{"OTEL_SERVICE_NAME=shop", kubernetes}},
		"mapping":     {env: []string{"OTEL_SERVICE_NAME=no"}, want: []string{"b4c7f0a2-0d0f-4f5e-9a44-7c9a1d6a1c11"}},
		"sdk":         {env: []string{"OTEL_SERVICE_NAME=shop", kubernetes}, packages: [2]string{"opentelemetry-sdk", "1.45.2"}, want: []string{"b4c7f0a2-0d0f-4f5e-9a44-7c9a1d6a1c11"}},
		"ddtrace":     {env: []string{"DD_SERVICE=shop", "DD_VERSION=1.4.2", "DD_ENV=prod", "DD_INSTRUMENTATION_TELEMETRY_ENABLED=false", kubernetes}, packages: [2]string{"ddtrace", "4.16.0"}, want: []string{"prod"}},
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			path := testenv.Must(filepath.Abs("../../examples/otel"))(t)
			if c.packages[0] != "" {
				path += ":" + testenv.PythonPackage(t, c.packages[0], c.packages[1])
			}
			folder := t.TempDir()
			store, socket := "sqlite:"+filepath.Join(folder, "registry.db"), filepath.Join(folder, "agent.sock")
			startOid(t, "listens on", "agent", "--listen", socket, "--store", store, "--interval", "1s")
			id := objectid.New().String()
			service := exec.Command("unshare", "--pid", "--fork", "--kill-child", python, "-c", instrumented, said, socket, id)
			service.Env = append([]string{"PATH=" + os.Getenv("PATH"), "PYTHONPATH=" + path}, c.env...)
			var stderr bytes.Buffer
			service.Stderr = &stderr
			out := testenv.Must(service.StdoutPipe())(t)
			if err := service.Start(); err != nil {
				t.Fatal(err)
			}
			defer service.Wait()
			defer service.Process.Kill()
			answer := make([]byte, 200)
			n, err := out.Read(answer)
			words := strings.Fields(string(answer[:n]))
			if err != nil || len(words) != 3 || words[0] != "ok" {
				t.Fatalf("the agent answers %q, %v\n%s", words, err, stderr.String())
			}
			pid, err := strconv.Atoi(words[2][strings.LastIndexByte(words[2], ':')+1:])
			if err == nil {
				err = syscall.Kill(pid, syscall.SIGKILL)
			}
			if err != nil {
				t.Fatal(err)
			}
			trace := []string{"trace", "--store", store, "--link", "logs=https://logs.example/explore?service={service.name}&pod={k8s.pod.name}&from={from}", id}
			var text string
			testenv.Await(t, "the end of the service", func() error {
				text = testenv.Run(t, exec.Command("oid", trace...))
				if !strings.Contains(text, "process ended") {
					return os.ErrDeadlineExceeded
				}
				return nil
			})
			for _, want := range append(c.want, "shop-7d9c-abcde", "payments", "1.4.2", "https://logs.example/explore?service=shop&pod=shop-7d9c-abcde&from=") {
				if !strings.Contains(text, want) {
					t.Errorf("oid trace does not show %s:\n%s", want, text)
				}
			}
			if said == "environment" {
				t.Log(text)
			}
		})
	}
}
