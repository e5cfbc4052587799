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
	"github.com/oidkit/oid/store/pgstore"
	"github.com/oidkit/oid/store/sqlitestore"
)

// storeHelp is the paragraph of --help about --store.
const storeHelp = `Documents are kept in the store that --store or the variable OID_STORE names:
sqlite:PATH for a file, postgres://... for a PostgreSQL server, mongodb://... or
mongodb+srv://... for a MongoDB server, each with the database in the URL. The
default is a file in your data folder.`

// storeURLs lists the forms of URLs for --help.
const storeURLs = "sqlite:PATH, postgres://... or mongodb://..."

// isPostgres reports whether a URL has PostgreSQL's scheme.
func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// storeFlag is the flag --store.
type storeFlag struct{ url string }

func (f *storeFlag) addFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "store", "", "`URL` of the store: "+storeURLs+" (default $OID_STORE, or a file in your data folder)")
}

// openToRead opens the store for commands that change nothing: a file must exist.
func (f *storeFlag) openToRead(ctx context.Context) (store.Store, error) { return f.open(ctx, true) }

// openToWrite opens the store for commands that change it. It creates a missing file.
func (f *storeFlag) openToWrite(ctx context.Context) (store.Store, error) { return f.open(ctx, false) }

// openToDelete opens an existing store for commands that only delete.
func (f *storeFlag) openToDelete(ctx context.Context) (store.Store, error) {
	s, err := f.openToRead(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return f.openToWrite(ctx)
}

// given returns the URL that was given, or "" for the default.
func (f *storeFlag) given() string {
	if f.url != "" {
		return f.url
	}
	return os.Getenv("OID_STORE")
}

// engine returns the name of the database that the store is in.
func (f *storeFlag) engine() string {
	switch url := f.given(); {
	case isPostgres(url):
		return "PostgreSQL"
	case isMongo(url):
		return "MongoDB"
	}
	return "SQLite"
}

// check returns an error if the URL given is invalid, without opening the store. The
// error omits the URL, which may contain a password.
func (f *storeFlag) check() error {
	url := f.given()
	scheme, rest, found := strings.Cut(url, ":")
	switch {
	case url == "", scheme == "sqlite" && rest != "", isMongo(url), isPostgres(url):
		return nil
	case found && scheme == "sqlite":
		return usagef("store URL sqlite: without a path; write sqlite:PATH")
	case found && !strings.ContainsAny(scheme, `/\.@`):
		return usagef("store URL that begins with %q; want %s", scheme+":", storeURLs)
	default:
		return usagef("store URL without a scheme; for a file, write sqlite:PATH")
	}
}

func (f *storeFlag) open(ctx context.Context, readOnly bool) (store.Store, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if url := f.given(); url != "" {
		return openURL(ctx, url, readOnly)
	}
	path, err := defaultStore()
	if err != nil {
		return nil, err
	}
	if !readOnly {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, fmt.Errorf("create the data folder: %w", err)
		}
	}
	return openFile(ctx, path, readOnly)
}

// openURL opens the store at a URL that check has accepted.
func openURL(ctx context.Context, url string, readOnly bool) (store.Store, error) {
	path, isFile := strings.CutPrefix(url, "sqlite:")
	switch {
	case isFile:
		return openFile(ctx, path, readOnly)
	case isPostgres(url):
		return pgstore.Open(ctx, url, nil)
	}
	return mongostore.Open(ctx, url, nil)
}

func openFile(ctx context.Context, path string, readOnly bool) (store.Store, error) {
	s, err := sqlitestore.Open(ctx, path, &sqlitestore.Options{ReadOnly: readOnly})
	if err == nil {
		return s, nil
	}
	if readOnly && errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; create it with \"oid insert\", or name another with --store", err)
	}
	return nil, err
}

// defaultStore returns the path of the file that is used without a URL.
func defaultStore() (string, error) {
	folder, err := dataFolder(runtime.GOOS)
	if err != nil {
		return "", fmt.Errorf("find your data folder: %w; name a store with --store", err)
	}
	return filepath.Join(folder, "oid", "store.db"), nil
}

// dataFolder returns the folder for a user's data: that of Windows or macOS, elsewhere
// by the XDG Base Directory Specification.
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
