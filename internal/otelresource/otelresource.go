// Package otelresource reads what a process says of itself by OpenTelemetry: the attributes of
// its resource, such as service.name and k8s.pod.name. They are claims of the process, like its
// name.
//
// A process has up to two sources of attributes. One is a mapping of memory called OTEL_CTX,
// in which an SDK publishes its resource to other processes; the format is that of OpenTelemetry's
// enhancement proposal 4719, version 2. The other is its environment: OTEL_SERVICE_NAME and
// OTEL_RESOURCE_ATTRIBUTES, see "Resource SDK" in the specification of OpenTelemetry. If an
// attribute is in both, the mapping counts, because the SDK has written it.
package otelresource

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/oidkit/oid/internal/backoff"
	"github.com/oidkit/oid/internal/hidden"
)

// Description says what a process is.
type Description struct {
	// Name and Version are those that were given, or else the attributes service.name and
	// service.version.
	Name, Version string
	// Labels are those that were given, and all other attributes that are kept.
	Labels map[string]string
}

// Bounds of labels. A name or a version that is an attribute has the bound of a value.
const (
	MaxLabels     = 50
	MaxLabelName  = 100 // bytes
	MaxLabelValue = 200 // bytes
)

// kept are the attributes that are kept: those with one of these names, and those that begin
// with one that ends in a dot.
var kept = []string{"service.", "deployment.environment.name", "k8s.", "container.id", "host.", "cloud.region", "vcs."}

// Reader reads what one process of this host says. It remembers where the process has published
// it. Only one goroutine at a time may use a Reader. The zero Reader reads what this process says.
type Reader struct {
	// PID of the process; 0 means this process.
	PID int
	// User is the user of the process. Stuck reads count for each user, so that nobody can keep
	// the processes of others from being read.
	User uint32
	// Given is what somebody else says of the process. It counts more than what the process says.
	Given Description

	proc      string    // the proc file system, if a test has another one than /proc
	address   int64     // of the mapping OTEL_CTX, or 0 if it is not known
	published uint64    // the time of publication of what was read there
	search    time.Time // when to search for the mapping again; zero before the first call of Read
	pause     backoff.Backoff
	begun     bool // the environment was read
}

const (
	maxPayload = 64 << 10 // bytes; other readers of the format have the same bound
	// maxList is how many bytes of a list of mappings are read, which are about 80,000 mappings,
	// and of an environment. A program has up to 6 MB of arguments and variables when it starts,
	// but can then name any of its memory its environment, see PR_SET_MM in prctl(2).
	maxList = 8 << 20

	// limit is how long Read waits. A process can map memory whose content comes from another
	// program, which may never answer.
	limit = 250 * time.Millisecond
	// maxStuck is how many reads of a user's processes may be stuck, of all Readers, until Read
	// begins no others.
	maxStuck = 8
)

// stuck counts the reads that have not ended within limit.
var stuck = stuckReads{of: map[uint32]int{}}

type stuckReads struct {
	mu sync.Mutex
	of map[uint32]int // by user
}

// add adds n reads of a user, and returns how many there are.
func (s *stuckReads) add(user uint32, n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[user] += n
	return s.of[user]
}

// Read returns the description of the process: what was given, completed by what the process
// says. It returns nil if nothing has changed since an earlier call, and never nil in the first
// call. The error says what cannot be read or is left out. It wraps [fs.ErrPermission] if this
// program may not read it. If the first call takes too long, its result is what was given, and a
// later call reads the rest or returns an error.
//
// While the process has no mapping, Read searches for one after pauses that grow from a second
// to five minutes. Otherwise Read takes microseconds. If the mapping disappears, because the SDK
// was shut down, what it said still counts.
func (r *Reader) Read() (said *Description, err error) {
	if stuck.add(r.User, 0) < maxStuck {
		next, done := *r, make(chan struct{})
		var read *Description
		var readErr error
		go func() {
			read, readErr = next.read()
			close(done)
		}()
		select {
		case <-done:
			*r = next
			return read, readErr
		case <-time.After(limit):
			stuck.add(next.User, 1)
			go func() { <-done; stuck.add(next.User, -1) }()
		}
	}
	if r.search.IsZero() { // a slow host, perhaps
		said = &r.Given
	} else {
		err = fmt.Errorf("the memory of process %d cannot be read within %v", r.PID, limit)
	}
	r.later()
	return said, err
}

// later sets when to search for the mapping again.
func (r *Reader) later() {
	r.address, r.pause.First, r.pause.Max = 0, time.Second, 5*time.Minute
	r.search = time.Now().Add(r.pause.Grow())
}

// read is Read without a limit.
func (r *Reader) read() (*Description, error) {
	var errs []error
	note := func(err error) {
		if errors.Is(err, fs.ErrPermission) {
			err = fmt.Errorf("%w; to read what the process says of itself, run as its user, or as root with the capabilities SYS_PTRACE and DAC_READ_SEARCH", err)
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH) { // otherwise the process has ended
			errs = append(errs, err)
		}
	}
	if r.address == 0 && time.Now().Before(r.search) {
		return nil, nil
	}
	root := fmt.Sprintf("%s/%d/", cmp.Or(r.proc, "/proc"), cmp.Or(r.PID, os.Getpid()))
	payload, err := r.payload(root)
	if note(err); payload == nil && r.begun {
		return nil, errors.Join(errs...)
	}
	r.begun = true
	getenv := os.Getenv
	if r.PID != 0 { // the environment with which it was started
		text, readErr := readSome(root + "environ")
		if err == nil { // otherwise it was probably the same
			note(readErr)
		}
		getenv = func(name string) string {
			_, after, _ := strings.Cut("\x00"+string(text), "\x00"+name+"=")
			value, _, _ := strings.Cut(after, "\x00")
			return value
		}
	}
	all, err := parseList(getenv("OTEL_RESOURCE_ATTRIBUTES"))
	note(err)
	all["service.name"] = cmp.Or(getenv("OTEL_SERVICE_NAME"), all["service.name"])
	if d := (decoder{all: map[string]string{}}); d.message(context, payload) {
		maps.Copy(all, d.all)
	} else {
		note(errors.New("OTEL_CTX is left out, because it is damaged"))
	}
	said, err := r.Given.with(all)
	note(err)
	return &said, errors.Join(errs...)
}

// payload returns what the process publishes. It returns nil if there is nothing, or if that was
// returned before.
func (r *Reader) payload(root string) (payload []byte, err error) {
	if r.search = time.Now(); r.address == 0 {
		r.address, err = find(root)
	}
	if r.address != 0 {
		payload, err = r.publication(root)
	}
	if err != nil || r.address == 0 {
		r.later()
	}
	return payload, err
}

// find returns the address of the mapping called OTEL_CTX, or 0. It is memory that was given
// this name, or a file in memory.
func find(root string) (int64, error) {
	text, err := readSome(root + "maps")
	for _, name := range []string{" [anon_shmem:OTEL_CTX", " [anon:OTEL_CTX", " /memfd:OTEL_CTX"} {
		if before, _, found := bytes.Cut(text, []byte(name)); found {
			start, _, _ := bytes.Cut(before[bytes.LastIndexByte(before, '\n')+1:], []byte("-"))
			return strconv.ParseInt(string(start), 16, 64)
		}
	}
	return 0, err
}

// readSome reads up to maxList bytes of a file.
func readSome(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxList))
}

// publication returns the payload of the mapping, or nil if it was returned before. The mapping
// begins with a header of 32 bytes: "OTEL_CTX", the version, the size of the payload, the time
// of publication, and the address of the payload. The time is 0 while the process writes.
func (r *Reader) publication(root string) ([]byte, error) {
	memory, err := os.Open(root + "mem")
	if err != nil {
		return nil, err
	}
	defer memory.Close()
	var header, after [32]byte
	if _, err := memory.ReadAt(header[:], r.address); err != nil {
		return nil, err
	}
	size, published := binary.LittleEndian.Uint32(header[12:]), binary.LittleEndian.Uint64(header[16:])
	switch {
	case string(header[:8]) != "OTEL_CTX" || binary.LittleEndian.Uint32(header[8:]) != 2 || size > maxPayload:
		return nil, fmt.Errorf("OTEL_CTX is left out: want a header of version 2 and up to %d bytes", maxPayload)
	case published == 0 || published == r.published:
		return nil, nil
	}
	payload := make([]byte, size)
	_, err = memory.ReadAt(payload, int64(binary.LittleEndian.Uint64(header[24:])))
	if _, again := memory.ReadAt(after[:], r.address); again != nil || after != header {
		return nil, nil // the process writes; the next call reads it
	}
	r.published = published
	return payload, err
}

// with returns d completed by attributes: what d has counts. If there are more than MaxLabels
// labels, attributes with the longest names are left out. The result has another map than d.
func (d Description) with(attributes map[string]string) (Description, error) {
	const environment = "deployment.environment" // what conventions before version 1.27 call environment+".name"
	attributes[environment+".name"] = cmp.Or(attributes[environment+".name"], attributes[environment])
	labels := map[string]string{}
	maps.Copy(labels, d.Labels)
	d.Labels = labels
	var left []string
	for _, name := range slices.SortedFunc(maps.Keys(attributes), func(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) }) {
		value := attributes[name]
		_, given := labels[name]
		field := map[string]*string{"service.name": &d.Name, "service.version": &d.Version}[name]
		switch {
		case given || value == "" || !slices.ContainsFunc(kept, func(k string) bool { return name == k || strings.HasSuffix(k, ".") && strings.HasPrefix(name, k) }):
		case len(name) > MaxLabelName || len(value) > MaxLabelValue || strings.ContainsFunc(name+value, hidden.Unprintable) || field == nil && len(labels) == MaxLabels:
			left = append(left, fmt.Sprintf("%.100q", name))
		case field != nil:
			*field = cmp.Or(*field, value)
		default:
			labels[name] = value
		}
	}
	if left == nil {
		return d, nil
	}
	return d, fmt.Errorf("attributes are left out: %s: want printable characters, a name of up to %d bytes, a value of up to %d, and up to %d labels",
		strings.Join(left, ", "), MaxLabelName, MaxLabelValue, MaxLabels)
}

// parseList returns the attributes in a text of the form of OTEL_RESOURCE_ATTRIBUTES. The
// specification says to discard the whole text if a part of it is invalid.
func parseList(list string) (map[string]string, error) {
	all := map[string]string{}
	for pair := range strings.SplitSeq(list, ",") {
		name, value, found := strings.Cut(pair, "=")
		name, err := url.PathUnescape(strings.TrimSpace(name))
		value, valueErr := url.PathUnescape(strings.TrimSpace(value))
		switch all[name] = value; {
		case !found && name == "": // nothing between two commas
		case !found || name == "" || err != nil || valueErr != nil:
			return map[string]string{}, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES is left out, because of %.50q: want name=value, percent-encoded", pair)
		}
	}
	return all, nil
}

// Messages of Protocol Buffers, see opentelemetry-proto. Each contains the next.
const (
	context   uint64 = iota // field 1 is the resource
	resource                // field 1 is an attribute
	attribute               // field 1 is its name, and field 2 its value
	anyValue                // field 1 is a text, field 2 a boolean, and field 3 an integer
)

// decoder collects the attributes in a message.
type decoder struct {
	all         map[string]string
	name, value string // of the attribute that is being decoded
}

// message decodes a message. It returns false if the message is damaged. A value of another
// type than those of anyValue counts as empty. The tag of a field is eight times its number plus
// the type of its content: 0 for an integer, 2 for a text or a message, and 1 or 5 for eight or
// four other bytes.
func (d *decoder) message(message uint64, b []byte) bool {
	for ok := true; len(b) > 0; {
		tag, n := binary.Uvarint(b)
		b = b[max(n, 0):]
		number, size := uint64(0), map[uint64]uint64{1: 8, 5: 4}[tag&7]
		switch {
		case n <= 0 || size == 0 && tag&5 != 0:
			return false
		case size == 0:
			number, n = binary.Uvarint(b)
			b, size = b[max(n, 0):], map[uint64]uint64{2: number}[tag&7]
		}
		if n <= 0 || size > uint64(len(b)) {
			return false
		}
		data := b[:size]
		b = b[size:]
		switch [2]uint64{message, tag} {
		case [2]uint64{context, 10}:
			ok = d.message(resource, data)
		case [2]uint64{resource, 10}:
			d.name, d.value = "", ""
			ok = d.message(attribute, data)
			d.all[d.name] = d.value
		case [2]uint64{attribute, 10}:
			d.name = string(data)
		case [2]uint64{attribute, 18}:
			ok = d.message(anyValue, data)
		case [2]uint64{anyValue, 10}:
			d.value = string(data)
		case [2]uint64{anyValue, 16}:
			d.value = strconv.FormatBool(number != 0)
		case [2]uint64{anyValue, 24}:
			d.value = strconv.FormatInt(int64(number), 10)
		}
		if !ok {
			return false
		}
	}
	return true
}
