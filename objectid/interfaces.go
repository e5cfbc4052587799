//go:build !js

package objectid

import (
	"fmt"
	"io"
	"net"
)

// writeInterfaces writes the names and the addresses of the network interfaces, if it can read
// them.
func writeInterfaces(w io.Writer) {
	interfaces, _ := net.Interfaces()
	for _, i := range interfaces {
		fmt.Fprintln(w, i.Name, i.HardwareAddr)
	}
}
