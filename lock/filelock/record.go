package filelock

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/oidkit/oid/gpid"
	"github.com/oidkit/oid/lock"
)

// record is the content of the file beside a lock, in JSON. While the lock is free, the
// record has no owner, or an owner that died without a release.
type record struct {
	Version int        `json:"version"`
	Name    string     `json:"name"`
	Owner   lock.Owner `json:"owner,omitzero"`
	Fence   uint64     `json:"fence"`
	Since   time.Time  `json:"since"`
	Host    string     `json:"host,omitempty"`
	Command string     `json:"command,omitempty"`
	Group   int        `json:"group,omitempty"` // -1: the holder has not named it yet
	Note    string     `json:"note,omitempty"`  // see lock.Once

	gpid.Process
}

// recordVersion is the version of a record's format.
const recordVersion = 1

func (r record) holder() lock.Holder {
	return lock.Holder{Host: r.Host, Command: r.Command, Group: r.Group, Process: r.Process}
}

// maxRecord is how many bytes of a file are read. A record with 32 runs of lock.Once has up
// to 100 KiB.
const maxRecord = 256 << 10

// decodeRecord parses a record. It returns a zero record if text is not a record: a power
// failure may have damaged the file, or another user of a shared folder may have written it.
// That is safe, because the kernel decides whether a lock is held, and without a record the
// fence follows the clock.
//
// A record of a newer version of this package is an error.
func decodeRecord(text []byte) (record, error) {
	const maxFence = 1 << 62 // leaves room for greater fences
	var r record
	err := json.Unmarshal(text, &r)
	switch {
	case r.Version > recordVersion: // even if the other fields cannot be parsed
		return record{}, fmt.Errorf("its record has format version %d, this program knows versions up to %d; use a newer oid", r.Version, recordVersion)
	case err != nil || lock.CheckName(r.Name) != nil || r.Fence > maxFence:
		return record{}, nil
	}
	return r, nil
}

// readRecord reads the record in a file. It returns a zero record if the file has none, or is
// not a regular file: a read from a named pipe might never end.
func readRecord(path string) (_ record, err error) {
	var file *os.File
	err = patiently(func() error {
		file, err = os.OpenFile(path, os.O_RDONLY|openSafely, 0)
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist), isSpecial(err):
		return record{}, nil
	case err != nil:
		return record{}, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return record{}, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxRecord))
	if err != nil {
		return record{}, err
	}
	return decodeRecord(text)
}

// read reads the lock's record. It returns a zero record if there is none. In a shared folder,
// the record of the user who held the lock last has the greatest fence.
func (f files) read() (newest record, err error) {
	paths := []string{f.record}
	if f.at != wholeFile {
		if paths, err = f.others(recordSuffix); err != nil {
			return record{}, err
		}
	}
	for _, path := range paths {
		r, err := readRecord(path)
		if errors.Is(err, fs.ErrPermission) && path != f.record {
			continue // another user hides it, and might as well remove it
		} else if err != nil {
			return record{}, err
		}
		if r.Name == f.name && r.Fence >= newest.Fence {
			newest = r
		}
	}
	return newest, nil
}

// others returns the paths of the files that belong to the lock and have a suffix.
func (f files) others(suffix string) (paths []string, err error) {
	entries, err := os.ReadDir(filepath.Dir(f.record))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(f.base)+".") && strings.HasSuffix(e.Name(), suffix) {
			paths = append(paths, filepath.Join(filepath.Dir(f.record), e.Name()))
		}
	}
	return paths, err
}

// partSuffix ends the names of temporary files, which replace records.
const partSuffix = ".part"

// write replaces the record as a whole. Only the process that has locked the file may call
// it.
func (f files) write(r record) (err error) {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	// The name cannot be guessed, and the file must not exist. So no other user of the folder
	// can have put a symbolic link there.
	file, err := os.CreateTemp(filepath.Dir(f.record), filepath.Base(f.record)+".*"+partSuffix)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	_, err = file.Write(append(text, '\n'))
	// Without Sync, the disk may have the new name before the content.
	err = errors.Join(err, file.Chmod(f.mode), file.Sync(), file.Close())
	if err != nil {
		return err
	}
	err = patiently(func() error { return os.Rename(file.Name(), f.record) })
	if info, failed := os.Stat(filepath.Dir(f.record)); errors.Is(err, fs.ErrPermission) && failed == nil && info.Mode()&fs.ModeSticky != 0 {
		err = fmt.Errorf("%w: a file of another user is there, and the folder has the sticky bit", err)
	}
	return err
}

// removeParts removes the temporary files of a holder that was killed while it wrote.
func (f files) removeParts() {
	parts, _ := f.others(partSuffix) // after an error the next holder tries again
	for _, part := range parts {
		_ = os.Remove(part)
	}
}
