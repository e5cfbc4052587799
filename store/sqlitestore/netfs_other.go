//go:build !linux

package sqlitestore

// networkFS knows no file systems here: SQLite itself must find out.
func networkFS(string) string { return "" }
