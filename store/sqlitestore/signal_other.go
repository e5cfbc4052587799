//go:build !linux

package sqlitestore

// Elsewhere nobody is woken.

type fileWatch struct{}

func touch(string) {}

func watchFile(string, func()) *fileWatch { return nil }

func (*fileWatch) close() {}
