package testenv

import (
	"encoding/binary"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// published is the mapping OTEL_CTX of this process, and its payload.
var published struct{ memory, payload []byte }

// PublishResource publishes attributes of this process, of the form name=value, as an
// OpenTelemetry SDK does: in a mapping called OTEL_CTX, see package otelresource. Without
// attributes it removes the mapping.
func PublishResource(attributes ...string) error {
	field := func(number int, content string) string {
		return string(append(binary.AppendUvarint([]byte{byte(number<<3 | 2)}, uint64(len(content))), content...))
	}
	var resource strings.Builder
	for _, a := range attributes {
		name, value, _ := strings.Cut(a, "=")
		resource.WriteString(field(1, field(1, name)+field(2, field(1, value))))
	}
	p := &published
	if len(attributes) == 0 {
		err := unix.Munmap(p.memory)
		p.memory = nil
		return err
	}
	if p.memory == nil {
		fd, err := unix.MemfdCreate("OTEL_CTX", unix.MFD_CLOEXEC)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if err := unix.Ftruncate(fd, 4096); err != nil {
			return err
		}
		if p.memory, err = unix.Mmap(fd, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE); err != nil {
			return err
		}
	}
	binary.LittleEndian.PutUint64(p.memory[16:], 0) // it is being written
	p.payload = []byte(field(1, resource.String()))
	binary.LittleEndian.PutUint32(p.memory[8:], 2)
	binary.LittleEndian.PutUint32(p.memory[12:], uint32(len(p.payload)))
	binary.LittleEndian.PutUint64(p.memory[24:], uint64(uintptr(unsafe.Pointer(&p.payload[0]))))
	binary.LittleEndian.PutUint64(p.memory[16:], uint64(time.Now().UnixNano()))
	copy(p.memory, "OTEL_CTX")
	return nil
}
