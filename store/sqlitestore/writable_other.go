//go:build !unix

package sqlitestore

import "os"

// checkWritable returns an error if this process may not write the file. Elsewhere locks
// do not end when another handle of the file is closed.
func checkWritable(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return f.Close()
}
