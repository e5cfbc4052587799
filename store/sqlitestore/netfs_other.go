//go:build !linux && !windows

package sqlitestore

// networkFS always returns "": network file systems are detected on Linux and Windows only.
func networkFS(string) string { return "" }
