package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/oidkit/oid/cmd/oid/internal/table"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/filelock"
)

// machineLocks is the folder of locks for all users of this machine, the default on Linux.
const machineLocks = "/var/lib/oid-locks"

// lockFolder returns the folder of a file: URL.
func lockFolder(url string) (string, error) {
	folder := table.FilePath("file", url)
	if path, absolute := strings.CutPrefix(folder, "//"); absolute { // file:///path
		if !strings.HasPrefix(path, "/") {
			return "", usagef("--locks or OID_LOCKS: a file URL with a host; want file:FOLDER or file:///FOLDER")
		}
		folder = path
	}
	if folder != "" {
		return folder, nil
	}
	if runtime.GOOS == "linux" && os.Getenv("XDG_DATA_HOME") == "" && (os.Geteuid() == 0 || exists(machineLocks)) {
		return machineLocks, nil
	}
	data, err := dataFolder(runtime.GOOS)
	if err != nil {
		return "", fmt.Errorf("there is no default folder for locks: %w; choose one with --locks file:FOLDER", err)
	}
	return filepath.Join(data, "oid", "locks"), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// missingPath returns the path of locks in files or SQLite if it does not exist, and
// otherwise "".
func missingPath(url string) (path string, err error) {
	path, inFile := table.FilePath("sqlite", url), strings.HasPrefix(url, "sqlite:")
	if strings.HasPrefix(url, "file:") {
		inFile = true
		if path, err = lockFolder(url); err != nil {
			return "", err
		}
	}
	if !inFile || exists(path) {
		path = ""
	}
	return path, nil
}

// openFileLocks opens locks in files. If it creates the default folder, it says which users
// share that folder.
func openFileLocks(_ context.Context, std streams, url string, _ time.Duration) (lock.Locker, error) {
	folder, err := lockFolder(url)
	switch isNew := url == "file:" && err == nil && !exists(folder); {
	case err != nil:
		return nil, err
	case isNew && folder == machineLocks:
		const forAll = fs.ModeSticky | 0o777
		err = os.Mkdir(folder, forAll)
		if err == nil {
			err = os.Chmod(folder, forAll) // whatever the umask is
		}
		if err != nil && !exists(folder) {
			return nil, fmt.Errorf("%w; choose a folder with --locks file:FOLDER", err)
		}
		std.warn("created %s: from now on, all users of this machine have their locks there by default", folder)
	case isNew && os.Getenv("XDG_DATA_HOME") == "":
		std.warn("warning: the locks in %s are for this user alone; for locks of all users see \"oid help urls\"", folder)
	}
	return filelock.New(folder, &filelock.Options{Events: warnOfSilence(std, url)})
}
