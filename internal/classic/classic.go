// Package classic reads the ids of the classic layout, which holds the host and the
// process: MongoDB's drivers wrote it until 2018, and some still do.
//
// After the seconds come the first three bytes of the MD5 of the host's name, two
// bytes of the pid, and a counter of three.
package classic

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/oidkit/oid/objectid"
)

// lastMachine is the last result of Machine: most programs ask about one host.
var lastMachine atomic.Pointer[[2]string]

// Machine returns the machine bytes of a host, in hexadecimal.
func Machine(host string) string {
	last := lastMachine.Load()
	if last == nil || last[0] != host {
		sum := md5.Sum([]byte(host))
		last = &[2]string{host, hex.EncodeToString(sum[:3])}
		lastMachine.Store(last)
	}
	return last[1]
}

// Split returns the machine bytes of id in hexadecimal, and the low 16 bits of the
// pid.
func Split(id objectid.ID) (machine string, pid int) {
	return hex.EncodeToString(id[4:7]), int(binary.BigEndian.Uint16(id[7:]))
}

// Value returns the process value of a process, in hexadecimal.
func Value(host string, pid int) string {
	return Machine(host) + hex.EncodeToString(binary.BigEndian.AppendUint16(nil, uint16(pid)))
}

// HasPID reports whether id may hold the given pid: its low 16 bits, or the pid
// modulo 65535 as pymongo wrote it, in either order of the bytes.
func HasPID(id objectid.ID, pid int) bool {
	held := binary.BigEndian.Uint16(id[7:])
	return slices.ContainsFunc([]uint16{uint16(pid), uint16(pid % 0xffff)}, func(n uint16) bool {
		return held == n || held == bits.ReverseBytes16(n)
	})
}
