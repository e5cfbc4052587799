package objectid

import (
	"crypto/md5"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"time"
)

// Layout is the meaning of the eight bytes after the seconds. The counter starts at a random
// value, and a new second does not reset it.
type Layout uint8

const (
	// Modern has 5 random bytes and a 3-byte counter, as in MongoDB drivers since 2018. The
	// counter can carry into the last random byte: a generator has more than 10^9 ids per
	// second.
	Modern Layout = iota
	// Classic has 3 bytes of the host name's MD5, 2 bytes of the pid and a 3-byte counter,
	// as drivers wrote until 2018. A process has at most 2^24 ids per second.
	Classic
	// Java has 2-byte hashes of the network interfaces and of the process, and a 4-byte
	// counter, as in version 2 of the Java driver.
	Java
)

// Layouts returns all layouts, the default first.
func Layouts() []Layout { return []Layout{Modern, Classic, Java} }

var layoutNames = [...]string{Modern: "modern", Classic: "classic", Java: "java"}

// String returns the lower-case name of l.
func (l Layout) String() string {
	if int(l) < len(layoutNames) {
		return layoutNames[l]
	}
	return fmt.Sprintf("Layout(%d)", uint8(l))
}

// MarshalText returns the name, or an error if l is not a layout.
func (l Layout) MarshalText() ([]byte, error) {
	if int(l) >= len(layoutNames) {
		return nil, fmt.Errorf("objectid: no such layout: %d", uint8(l))
	}
	return []byte(l.String()), nil
}

// UnmarshalText reads the lower-case name of a layout. On an error l is unchanged.
func (l *Layout) UnmarshalText(text []byte) error {
	for i, name := range layoutNames {
		if string(text) == name {
			*l = Layout(i)
			return nil
		}
	}
	return fmt.Errorf("objectid: no such layout: %q, want %s", text, strings.Join(layoutNames[:], ", "))
}

// words returns the constant block of a new generator, its first low word, and
// the bits of the low word that are the counter.
func (l Layout) words() (block, low, counter uint32, err error) {
	var random [12]byte
	rand.Read(random[:])
	low = binary.BigEndian.Uint32(random[0:])
	// The upper byte is drawn from 0 to 191, so that at least 64 overflows of
	// the three bytes below it fit.
	roomy := uint32(binary.BigEndian.Uint16(random[4:]))*192>>16<<24 | low&0x00FFFFFF
	// Copies of a virtual machine can read the same random bytes until their kernels have new
	// ones. Each copy then draws at another time.
	seed := binary.BigEndian.Uint32(random[8:]) ^ uint32(time.Now().UnixNano())
	// A counter that overflows within a second carries into the last random byte (Modern) or
	// into the seconds (Classic, Java). The next second undoes a carry into the random byte. So
	// a Modern generator uses only process values of one process block: the 256 values with
	// the same first four bytes.
	switch l {
	case Modern:
		return seed, roomy, 0x00FFFFFF, nil
	case Classic:
		host, err := os.Hostname()
		if err != nil {
			return 0, 0, 0, fmt.Errorf("objectid: read the host name for the classic layout: %w", err)
		}
		machine := md5.Sum([]byte(host))
		pid := uint32(os.Getpid())
		block = binary.BigEndian.Uint32(machine[:])&^0xFF | pid>>8&0xFF
		return block, pid<<24 | low&0x00FFFFFF, 0x00FFFFFF, nil
	case Java:
		return javaBlock(seed), roomy, 0xFFFFFFFF, nil
	default:
		return 0, 0, 0, fmt.Errorf("objectid: no such layout: %d", uint8(l))
	}
}

// javaBlock hashes the network interfaces into two bytes, and the process id with
// seed into two more. The Java driver hashed the address of its class loader
// instead of a seed, which distinguishes several copies within one process.
func javaBlock(seed uint32) uint32 {
	machine := fnv.New32a()
	writeInterfaces(machine) // all hosts without interfaces have the same two bytes
	process := fnv.New32a()
	fmt.Fprintln(process, os.Getpid(), seed)
	return fold(machine.Sum32())<<16 | fold(process.Sum32())
}

// fold reduces 32 bits to 16.
func fold(h uint32) uint32 { return h>>16 ^ h&0xFFFF }
