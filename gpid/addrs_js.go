package gpid

import "fmt"

// interfaceAddrs returns nothing: a browser has no addresses. Without package net, programs for
// it are smaller.
func interfaceAddrs() []fmt.Stringer { return nil }
