package main

import "syscall/js"

// memory returns the limit of the memory of a census in bytes: half of the memory of the device,
// but at most 1.2 GB. The memory of WebAssembly never shrinks, and the browser takes up to 0.7 GB
// more for what it read: so the page stays below 2 GB. gib is what the browser says of the
// device, see https://www.w3.org/TR/device-memory/. If it says nothing, this may be a phone with
// 2 GiB.
func memory(gib js.Value) int64 {
	device := 2.0
	if gib.Type() == js.TypeNumber {
		device = gib.Float()
	}
	return int64(min(1.2e9, device/2*(1<<30)))
}
