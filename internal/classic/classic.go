// Package classic reads the host and the pid from ids of the classic layout, which MongoDB's
// drivers wrote until 2018, and some still write.
//
// In this layout the seconds are followed by three machine bytes, which begin the MD5 of the
// host name, by two bytes of the pid, and by a counter of three bytes.
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

// lastMachine caches the last host and result of Machine, because most programs ask about one
// host.
var lastMachine atomic.Pointer[[2]string]

// Machine returns the machine bytes of a host as 6 hexadecimal digits.
func Machine(host string) string {
	last := lastMachine.Load()
	if last == nil || last[0] != host {
		sum := md5.Sum([]byte(host))
		last = &[2]string{host, hex.EncodeToString(sum[:3])}
		lastMachine.Store(last)
	}
	return last[1]
}

// Split returns the machine bytes of id as 6 hexadecimal digits, and the low 16 bits of the
// pid.
func Split(id objectid.ID) (machine string, pid int) {
	return hex.EncodeToString(id[4:7]), int(binary.BigEndian.Uint16(id[7:]))
}

// Value returns the process value of a process as 10 hexadecimal digits.
func Value(host string, pid int) string {
	return Machine(host) + hex.EncodeToString(binary.BigEndian.AppendUint16(nil, uint16(pid)))
}

// HasPID reports whether a process with the given pid may have created id. For that, the pid
// bytes of id must hold the low 16 bits of pid, or pid modulo 65535, which pymongo wrote, in
// either byte order.
func HasPID(id objectid.ID, pid int) bool {
	held := binary.BigEndian.Uint16(id[7:])
	return slices.ContainsFunc([]uint16{uint16(pid), uint16(pid % 0xffff)}, func(n uint16) bool {
		return held == n || held == bits.ReverseBytes16(n)
	})
}
