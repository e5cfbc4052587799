//go:build !linux

package sqlitestore

// Signals are implemented on Linux only: on other systems, listeners are not woken.

type fileWatch struct{}

func touch(string) {}

func watchFile(string, func()) *fileWatch { return nil }

func (*fileWatch) close() {}
