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

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/mongostore"
	"github.com/oidkit/oid/store/sqlitestore"
)

// storeHelp is the paragraph of --help about --store.
const storeHelp = `Documents are kept in the store that --store or the variable OID_STORE names:
sqlite:PATH for a file, mongodb://... or mongodb+srv://... for a MongoDB server
and the database in the URL. Without either it is a file in your data folder.`

// storeFlag is the flag --store.
type storeFlag struct{ url string }

func (f *storeFlag) addFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "store", "", "`URL` of the store: sqlite:PATH or mongodb://... (default $OID_STORE, or a file in your data folder)")
}

// openToRead opens the store for commands that change nothing: a file must be
// there.
func (f *storeFlag) openToRead(ctx context.Context) (store.Store, error) { return f.open(ctx, true) }

// openToWrite opens the store for commands that change it, and makes a file that
// is not there.
func (f *storeFlag) openToWrite(ctx context.Context) (store.Store, error) { return f.open(ctx, false) }

func (f *storeFlag) open(ctx context.Context, readOnly bool) (store.Store, error) {
	url := f.url
	if url == "" {
		url = os.Getenv("OID_STORE")
	}
	if url == "" {
		path, err := defaultStore()
		if err != nil {
			return nil, err
		}
		if !readOnly {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return nil, fmt.Errorf("make the data folder: %w", err)
			}
		}
		url = "sqlite:" + path
	}
	// The URL is left out of what is said: it may hold a password.
	scheme, rest, found := strings.Cut(url, ":")
	switch {
	case found && scheme == "sqlite" && rest != "":
		return openFile(ctx, rest, readOnly)
	case found && (scheme == "mongodb" || scheme == "mongodb+srv"):
		return mongostore.Open(ctx, url, nil)
	case found && scheme == "sqlite":
		return nil, usagef("store URL sqlite: without a path; write sqlite:PATH")
	case found && !strings.ContainsAny(scheme, `/\.@`):
		return nil, usagef("store URL that begins with %q; want sqlite:PATH, mongodb://... or mongodb+srv://...", scheme+":")
	default:
		return nil, usagef("store URL without a scheme; for a file, write sqlite:PATH")
	}
}

func openFile(ctx context.Context, path string, readOnly bool) (store.Store, error) {
	s, err := sqlitestore.Open(ctx, path, &sqlitestore.Options{ReadOnly: readOnly})
	if err == nil {
		return s, nil
	}
	if readOnly && errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; \"oid insert\" makes it, or name another with --store", err)
	}
	return nil, err
}

// defaultStore returns the path of the file that is used when none is named.
func defaultStore() (string, error) {
	folder, err := dataFolder(runtime.GOOS)
	if err != nil {
		return "", fmt.Errorf("find your data folder: %w; name a store with --store", err)
	}
	return filepath.Join(folder, "oid", "store.db"), nil
}

// dataFolder returns the folder for a user's data, by the custom of the system:
// elsewhere than on Windows and macOS that is the XDG Base Directory
// Specification.
func dataFolder(system string) (string, error) {
	if system == "windows" {
		return os.UserCacheDir() // %LocalAppData%, which is for data too
	}
	if folder := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(folder) && system != "darwin" {
		return folder, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	if system == "darwin" {
		return filepath.Join(home, "Library", "Application Support"), nil
	}
	return filepath.Join(home, ".local", "share"), nil
}
