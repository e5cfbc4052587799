//go:build !linux

package sqlitestore

// networkFS always returns "": network file systems are detected on Linux only.
func networkFS(string) string { return "" }
