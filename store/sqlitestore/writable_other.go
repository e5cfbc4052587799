//go:build !unix

package sqlitestore

import "os"

// checkWritable returns an error if this process may not write to the file. On this system it may
// open the file: closing it again does not release locks of other handles, as it does on Unix.
func checkWritable(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return f.Close()
}
