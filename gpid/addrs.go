//go:build !js

package gpid

import "net"

// interfaceAddrs returns the addresses of this host. It returns none if they cannot be read.
func interfaceAddrs() []net.Addr {
	all, _ := net.InterfaceAddrs()
	return all
}
