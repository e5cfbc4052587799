package main

// memory returns the limit of the memory of a census in bytes.
func memory() int64 { return 1 << 30 }
