//go:build !linux

package server

import "net"

// readable is known on Linux only.
func readable(net.Conn) bool { return false }
