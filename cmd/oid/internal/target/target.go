// Package target writes a file as a whole, or not at all.
package target

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/oidkit/oid/objectid"
)

// Check returns an error if the file path cannot be written, or if it is one of
// sources. Sources that are not files are ignored.
func Check(path string, sources []string) error {
	target, err := os.Stat(path)
	if err != nil {
		return nil // a new file; other errors come when it is written
	}
	if target.IsDir() {
		return errors.New("it is a folder; name a file in it")
	}
	for _, source := range sources {
		if info, err := os.Stat(source); err == nil && target.Mode().IsRegular() && os.SameFile(info, target) {
			return fmt.Errorf("it is the source %s", source)
		}
	}
	return nil
}

// Write sends the output of write to the file path, or to stdout if path is "-".
// A regular file is replaced as a whole or, on an error, unchanged; its mode and
// symbolic links to it are kept. Pipes and devices are written to.
func Write(stdout io.Writer, path string, write func(io.Writer) error) error {
	if path == "-" {
		return write(stdout)
	}
	mode := os.FileMode(0o666) // the umask applies
	switch info, err := os.Stat(path); {
	case err == nil && !info.Mode().IsRegular():
		return writeThrough(path, write)
	case err == nil:
		mode = info.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	part := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+objectid.New().String())
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err = errors.Join(write(f), f.Close()); err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Join(err, os.Remove(part)))
	}
	return nil
}

func writeThrough(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
