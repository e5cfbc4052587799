package otelresource

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// text and message are a field of a message with a text or a message in it.
func text(number int, content string) []byte {
	return append(binary.AppendUvarint([]byte{byte(number<<3 | 2)}, uint64(len(content))), content...)
}

// payloadOf returns a ProcessContext with attributes that are texts.
func payloadOf(attributes ...string) []byte {
	var resource []byte
	for i := 0; i < len(attributes); i += 2 {
		value := text(2, string(text(1, attributes[i+1])))
		resource = append(resource, text(1, string(text(1, attributes[i]))+string(value))...)
	}
	return text(1, string(resource))
}

// fromDatadog is what libdatadog published for a Python service with DD_SERVICE=shop,
// DD_VERSION=1.4.2 and DD_ENV=prod, by ddtrace 4.16.0.
const fromDatadog = "\n\x94\x02\n\x16\n\x0cservice.name\x12\x06\n\x04shop\n9\n\x13service.instance.id\x12\"\n dfc65fbbcb0d4b6d92c21a718d089488\n\x1a\n\x0fservice.version\x12\x07\n\x051.4.2\n%\n\x1bdeployment.environment.name\x12\x06\n\x04prod\n\"\n\x16telemetry.sdk.language\x12\x08\n\x06python\n!\n\x15telemetry.sdk.version\x12\x08\n\x064.16.0\n\"\n\x12telemetry.sdk.name\x12\x0c\n\nlibdatadog\n\x11\n\thost.name\x12\x04\n\x02vm\x12.\n\x1athreadlocal.schema_version\x12\x10\n\x0etlsdesc_v1_dev\x12A\n\x1dthreadlocal.attribute_key_map\x12 *\x1e\n\x1c\n\x1adatadog.local_root_span_id"

// want checks what a Reader reads.
func (p *publisher) want(r *Reader, name, version string, labels map[string]string) {
	p.t.Helper()
	r.search = time.Time{} // do not wait
	said, err := r.Read()
	if want := (Description{name, version, labels}); err != nil || said == nil || !reflect.DeepEqual(*said, want) {
		p.t.Errorf("read %+v, %v, want %+v", said, err, want)
	}
}

func TestPublished(t *testing.T) {
	p := startPublisher(t, "OTEL_SERVICE_NAME=fallback", "OTEL_RESOURCE_ATTRIBUTES=k8s.pod.name=shop-1,service.version=0")
	r := &Reader{PID: p.pid}
	p.want(r, "fallback", "0", map[string]string{"k8s.pod.name": "shop-1"})
	p.ask("publish", []byte(fromDatadog))
	labels := map[string]string{"service.instance.id": "dfc65fbbcb0d4b6d92c21a718d089488", "deployment.environment.name": "prod", "host.name": "vm", "k8s.pod.name": "shop-1"}
	p.want(r, "shop", "1.4.2", labels)
	if said, err := r.Read(); said != nil || err != nil {
		t.Errorf("what has not changed is read again: %v, %v", said, err)
	}
	p.ask("publish", payloadOf("service.name", "shop", "k8s.pod.uid", "u-2"))
	p.want(r, "shop", "0", map[string]string{"k8s.pod.name": "shop-1", "k8s.pod.uid": "u-2"})

	p.ask("header", []byte("XXXX"))
	for range 3 {
		r.search = r.search.Add(-time.Hour)
		if said, _ := r.Read(); said != nil {
			t.Errorf("after the header was overwritten the process says %v, want no change", said)
		}
	}
	p.ask("publish", payloadOf("service.name", "shop2"))
	p.want(r, "shop2", "0", map[string]string{"k8s.pod.name": "shop-1"})
	p.ask("drop")
	for range 3 {
		if said, err := r.Read(); said != nil || err != nil && !errors.Is(err, syscall.EIO) {
			t.Errorf("after the mapping was dropped: %v, %v, want no change", said, err)
		}
	}
	if r.address != 0 || !r.search.After(time.Now()) {
		t.Errorf("the mapping was dropped; the reader still reads at %x, or searches all the time", r.address)
	}
}

// What was given counts more, label by label, and is not changed.
func TestGiven(t *testing.T) {
	p := startPublisher(t)
	p.ask("publish", payloadOf("service.name", "shop", "service.version", "2", "k8s.pod.name", "a", "k8s.node.name", "n"))
	given := map[string]string{"k8s.pod.name": "mine", "team": "orders"}
	r := &Reader{PID: p.pid, Given: Description{Name: "till", Labels: given}}
	p.want(r, "till", "2", map[string]string{"k8s.pod.name": "mine", "team": "orders", "k8s.node.name": "n"})
	if len(given) != 2 {
		t.Errorf("the labels that were given have become %v", given)
	}
}

func TestEnvironment(t *testing.T) {
	for list, want := range map[string]Description{
		"":                                     {"", "", nil},
		"service.name=a,service.version=1":     {"a", "1", nil},
		" k8s.pod.name = shop%2C1 ,, ":         {"", "", map[string]string{"k8s.pod.name": "shop,1"}},
		"k8s.pod.name=a%20b+c=d":               {"", "", map[string]string{"k8s.pod.name": "a b+c=d"}},
		"host.id=1,host.id=2,os.type=linux":    {"", "", map[string]string{"host.id": "2"}},
		"deployment.environment=prod":          {"", "", map[string]string{"deployment.environment.name": "prod"}},
		"service.name=n%C3%A4h,cloud.region=x": {"näh", "", map[string]string{"cloud.region": "x"}},
	} {
		p := startPublisher(t, "X=OTEL_SERVICE_NAME=no", "XOTEL_SERVICE_NAME=no", "OTEL_RESOURCE_ATTRIBUTES="+list)
		if want.Labels == nil {
			want.Labels = map[string]string{}
		}
		p.want(&Reader{PID: p.pid}, want.Name, want.Version, want.Labels)
	}
	p := startPublisher(t, "OTEL_SERVICE_NAME=shop", "OTEL_RESOURCE_ATTRIBUTES=service.name=list")
	p.want(&Reader{PID: p.pid}, "shop", "", map[string]string{})
	for _, list := range []string{"service.version=1,k8s.pod.name", "service.version=1,k8s.pod.name=%zz", "service.version=1,%=2", "service.version=1,=2"} {
		p := startPublisher(t, "OTEL_SERVICE_NAME=shop", "OTEL_RESOURCE_ATTRIBUTES="+list)
		said, err := (&Reader{PID: p.pid}).Read()
		if err == nil || !strings.Contains(err.Error(), "OTEL_RESOURCE_ATTRIBUTES is left out") || said.Name != "shop" || said.Version != "" {
			t.Errorf("%s: read %+v, %v, want only the name, and an error", list, said, err)
		}
	}
}

// This process is described by its variables as they are now.
func TestOwn(t *testing.T) {
	t.Setenv("OTEL_SERVICE_NAME", "own")
	if said, err := new(Reader).Read(); err != nil || said.Name != "own" {
		t.Errorf("read %+v, %v, want the name own", said, err)
	}
}

// What a process writes by mistake or on purpose is left out, and the environment counts.
func TestDamaged(t *testing.T) {
	header := func(version, size uint32, published, address uint64) []byte {
		b := []byte("OTEL_CTX")
		b = binary.LittleEndian.AppendUint32(b, version)
		b = binary.LittleEndian.AppendUint32(b, size)
		b = binary.LittleEndian.AppendUint64(b, published)
		return binary.LittleEndian.AppendUint64(b, address)
	}
	for name, h := range map[string][]byte{
		"another version":     header(1, 8, 1, 0)[:12],
		"a large payload":     header(2, maxPayload+1, 1, 0)[:16],
		"a missing payload":   header(2, 8, 1, 0),
		"a negative address":  header(2, 8, 1, 1<<63),
		"an address too high": header(2, 8, 1, 1<<63-4),
		"another signature":   []byte("OTEL_CTY"),
	} {
		p := startPublisher(t, "OTEL_SERVICE_NAME=shop")
		p.ask("publish", payloadOf("service.name", "published"))
		p.ask("header", h)
		said, err := (&Reader{PID: p.pid}).Read()
		if err == nil || said == nil || said.Name != "shop" || len(h) < 32 && !strings.Contains(err.Error(), "want a header of version 2 and up to 65536 bytes") {
			t.Errorf("%s: read %+v, %v, want an error and what the environment says", name, said, err)
		}
	}
	p := startPublisher(t, "OTEL_SERVICE_NAME=shop")
	p.ask("publish", []byte(fromDatadog[:100]))
	if said, err := (&Reader{PID: p.pid}).Read(); err == nil || !strings.Contains(err.Error(), "damaged") || said.Name != "shop" {
		t.Errorf("a payload that ends early: read %+v, %v, want an error and what the environment says", said, err)
	}
	p.ask("header", header(2, 8, 0, 0))
	r := &Reader{PID: p.pid}
	if said, err := r.Read(); err != nil || said == nil || said.Name != "shop" {
		t.Errorf("while the process writes: read %+v, %v, want what the environment says", said, err)
	}
	p.ask("publish", payloadOf("service.name", "published"))
	if said, err := r.Read(); err != nil || said == nil || said.Name != "published" {
		t.Errorf("after the process wrote: read %+v, %v, want what it published", said, err)
	}
}

// A reader never gets the half of one payload and the half of another one.
func TestFlood(t *testing.T) {
	p := startPublisher(t)
	a, b := strings.Repeat("a", 199), strings.Repeat("b", 199)
	p.ask("flood", payloadOf("service.name", a, "k8s.pod.name", a), payloadOf("service.name", b, "k8s.pod.name", b))
	read := 0
	for r := (&Reader{PID: p.pid}); read < 200; {
		r.search = time.Now()
		said, err := r.Read()
		if err != nil && !errors.Is(err, syscall.EIO) && !strings.Contains(err.Error(), "left out") && !strings.Contains(err.Error(), "within") {
			t.Fatal(err)
		}
		if said == nil || said.Name == "" {
			continue
		}
		if read++; said.Name != said.Labels["k8s.pod.name"] || said.Name != a && said.Name != b {
			t.Fatalf("read %+v", said)
		}
	}
}

// Memory that never comes, here a pipe that nobody writes, stops neither the reader of the
// process nor, after some time, readers of other processes. Linux gives such memory to any user
// who may mount a FUSE file system.
func TestStuck(t *testing.T) {
	other := startPublisher(t, "OTEL_SERVICE_NAME=other")
	proc := t.TempDir()
	memory := proc + "/1/mem"
	err := errors.Join(os.Mkdir(proc+"/1", 0o700), syscall.Mkfifo(memory, 0o600),
		os.WriteFile(proc+"/1/maps", []byte("7f1c00000000-7f1c00001000 rw-p 00000000 00:01 1040 /memfd:OTEL_CTX (deleted)\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for range maxStuck {
		begun := time.Now()
		r := &Reader{PID: 1, Given: Description{Name: "given"}, proc: proc}
		said, err := r.Read()
		if took := time.Since(begun); err != nil || said == nil || said.Name != "given" || took < limit {
			t.Fatalf("read %+v, %v in %v, want what was given", said, err, took)
		}
	}
	if said, err := (&Reader{PID: other.pid, User: 1}).Read(); err != nil || said == nil || said.Name != "other" {
		t.Errorf("a process of another user: %+v, %v", said, err)
	}
	late := &Reader{PID: other.pid} // it reads the environment as soon as it can
	begun := time.Now()
	for _, failed := range []bool{false, true} {
		if said, err := late.Read(); (said == nil) != failed || (err != nil) != failed || time.Since(begun) >= limit {
			t.Errorf("with %d stuck reads: %v, %v, want an error in the second call", stuck.add(0, 0), said, err)
		}
	}
	w, err := os.OpenFile(memory, os.O_WRONLY, 0) // all of them go on
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for begun := time.Now(); stuck.add(0, 0) > 0; time.Sleep(time.Millisecond) {
		if time.Since(begun) > 10*time.Second {
			t.Fatalf("%d reads are stuck after their memory has come", stuck.add(0, 0))
		}
	}
	other.want(late, "other", "", map[string]string{})
}

// A process may name any of its memory its environment, which every user may do. It costs the
// reader no more memory than a true environment can.
func TestHugeEnvironment(t *testing.T) {
	p := startPublisher(t)
	p.ask("environ 1000000000")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	said, err := (&Reader{PID: p.pid}).Read()
	for begun := time.Now(); stuck.add(0, 0) > 0 && time.Since(begun) < 5*time.Second; time.Sleep(time.Millisecond) {
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; stuck.add(0, 0) > 0 || took > 10*maxList || err != nil || said == nil || said.Name != "" {
		t.Errorf("read %+v, %v with %d MB of memory, %d reads are stuck", said, err, took>>20, stuck.add(0, 0))
	}
}

// A process of another user is not readable, which is an error and not an empty description.
func TestOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to be two users")
	}
	p := startPublisher(t, "OTEL_SERVICE_NAME=shop")
	program := t.TempDir() + "/read"
	for _, dir := range []string{t.TempDir(), strings.TrimSuffix(t.TempDir(), "/003")} {
		_ = os.Chmod(dir, 0o755)
	}
	data, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(program, data, 0o755)
	}
	f, openErr := os.Open(program) // the folder may be closed to the other user
	if err = errors.Join(err, openErr); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd := exec.Command("/proc/self/fd/3", strconv.Itoa(p.pid))
	cmd.ExtraFiles, cmd.Env = []*os.File{f}, []string{helper + "=read"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), " true ") || strings.Count(string(out), "permission denied") != 1 || !strings.Contains(string(out), "SYS_PTRACE") {
		t.Errorf("another user reads %q, %v, want no name and a missing permission", out, err)
	}
	if _, err := (&Reader{PID: p.pid}).Read(); errors.Is(err, fs.ErrPermission) {
		t.Errorf("root: %v", err)
	}
}

// A process that has ended says nothing, without an error.
func TestEnded(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	cmd.Env = []string{"OTEL_SERVICE_NAME=shop"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	for range 2 { // a zombie, and no process
		if said, err := (&Reader{PID: cmd.Process.Pid}).Read(); err != nil || said == nil || said.Name != "" && said.Name != "shop" {
			t.Errorf("read %+v, %v, want nothing", said, err)
		}
		_ = cmd.Wait()
	}
}

func TestBounds(t *testing.T) {
	long := strings.Repeat("x", MaxLabelValue)
	given := map[string]string{}
	for i := range MaxLabels - 2 {
		given["l"+strconv.Itoa(i)] = ""
	}
	all := map[string]string{
		"service.name": "shop", "service.version": "1", "k8s.pod.name": long, "host.id": long + "x", "k8s.pod.uid": "\u200b",
		"k8s.pod.label." + strings.Repeat("n", MaxLabelName): "1", "k8s.node.uid": "\xff", "host.name": "h", "k8s.pod.label.app": "shop", "process.pid": "1", "container.id": "",
	}
	d, err := Description{Labels: given}.with(maps.Clone(all))
	want := maps.Clone(given)
	want["host.name"], want["k8s.pod.name"] = "h", long
	if d.Name != "shop" || d.Version != "1" || !maps.Equal(d.Labels, want) {
		t.Errorf("%+v", d)
	}
	for _, name := range []string{"host.id", "k8s.pod.uid", "k8s.pod.label.nnn", "k8s.node.uid", "k8s.pod.label.app"} {
		if err == nil || !strings.Contains(err.Error(), `"`+name) {
			t.Errorf("%v does not name %s", err, name)
		}
	}
	if err != nil && (strings.Contains(err.Error(), "process.pid") || strings.Contains(err.Error(), "container.id")) {
		t.Errorf("%v names what would not be kept", err)
	}
}

func TestValues(t *testing.T) {
	value := func(anyValue ...byte) string {
		return string(text(1, string(text(1, "k"))+string(text(2, string(anyValue)))))
	}
	for message, want := range map[string]string{
		value(16, 1): "true", value(16, 0): "false", value(24, 0xAC, 0x02): "300",
		value(24, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01): "-1",
		value(33, 0, 0, 0, 0, 0, 0, 0, 0):                                     "", value(42, 0): "", value(50, 1, 'x'): "", value(): "", value(37, 1, 2, 3, 4): "",
	} {
		if d := (decoder{all: map[string]string{}}); !d.message(context, text(1, message)) || len(d.all) != 1 || d.all["k"] != want {
			t.Errorf("%x: %v, want %q", message, d.all, want)
		}
	}
	for _, damaged := range []string{"\x0a", "\x0a\x05abc", "\x0b", "\x0c", "\x0e", "\x09abc", "\x0d", "\x08\xff", "\x80", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"} {
		for message := range anyValue + 1 {
			if d := (decoder{all: map[string]string{}}); d.message(message, []byte(damaged)) {
				t.Errorf("%x is read as a message %d: %v", damaged, message, d.all)
			}
		}
	}
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte(fromDatadog))
	f.Add(payloadOf("service.name", "shop"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := decoder{all: map[string]string{}}
		d.message(context, b)
		size := 0
		for name, value := range d.all {
			size += len(name) + len(value)
		}
		if size > 11*len(b) { // a number of two bytes may have 20 digits
			t.Errorf("%d bytes have attributes of %d", len(b), size)
		}
		if said, _ := (Description{}).with(d.all); len(said.Labels) > MaxLabels {
			t.Errorf("%d labels", len(said.Labels))
		}
	})
}

func FuzzList(f *testing.F) {
	f.Add("service.name=shop,k8s.pod.name=a%20b")
	f.Fuzz(func(t *testing.T, list string) {
		all, err := parseList(list)
		if err != nil && len(all) > 0 {
			t.Errorf("%q: %v and %v", list, all, err)
		}
	})
}
