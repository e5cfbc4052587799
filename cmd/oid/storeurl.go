package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/cmd/oid/internal/table"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/memstore"
	"github.com/oidkit/oid/store/mongostore"
	"github.com/oidkit/oid/store/pgstore"
	"github.com/oidkit/oid/store/sqlitestore"
)

// storeEngine is a kind of database that can hold a store.
type storeEngine struct {
	name    string   // of the database
	schemes []string // of its URLs
	url     string   // the form of its URLs
	about   string   // for --help
	oneHost bool     // whether only one host can use it
	whole   bool     // whether a census can read all collections of a database, see splitNamespace
	trial   bool     // whether it ends with the process; only oid serve accepts it then
	open    func(ctx context.Context, url string, readOnly bool) (store.Store, error)
}

// storeEngines are all engines of stores; the first is the default.
var storeEngines = []storeEngine{
	{
		name: "SQLite", schemes: []string{"sqlite"}, url: "sqlite:PATH", about: "a file; the default is a file in your data folder",
		oneHost: true, open: openSQLite,
	},
	{
		name: "PostgreSQL", schemes: []string{"postgres", "postgresql"}, url: "postgres://...", about: "a PostgreSQL server; the URL names the database",
		open: func(ctx context.Context, url string, _ bool) (store.Store, error) { return pgstore.Open(ctx, url) },
	},
	{
		name: "MongoDB", schemes: []string{"mongodb", "mongodb+srv"}, url: "mongodb://...", about: "a MongoDB server; the URL names the database", whole: true,
		open: func(ctx context.Context, url string, _ bool) (store.Store, error) {
			return mongostore.Open(ctx, url)
		},
	},
	{
		name: "memory", schemes: []string{"memory"}, url: "memory:", about: "the memory of \"oid serve\", for trials; lost when the command ends", oneHost: true, trial: true,
		open: func(context.Context, string, bool) (store.Store, error) { return memstore.New(), nil },
	},
}

// storeURLs lists the forms of URL that all commands accept, and storeSchemes their schemes.
// storeHelp is the paragraph about --store in "oid help urls".
var storeURLs, storeSchemes, storeHelp = func() (urls string, schemes []string, help string) {
	help = "--store or the environment variable OID_STORE names the store of documents and processes.\nIf several hosts share the store, it must be on a server:"
	var forms []string
	for _, e := range storeEngines {
		help += fmt.Sprintf("\n  %-15s %s", e.url, e.about)
		if !e.trial {
			forms = append(forms, e.url)
			schemes = append(schemes, e.schemes...)
		}
	}
	help += "\nTables of other programs are no store; \"oid census\" reads their ids, see\n\"oid help census-sources\"."
	return strings.Join(forms, ", "), schemes, help
}()

// storeEngineOf returns the engine of a URL, or nil.
func storeEngineOf(url string) *storeEngine {
	scheme, _, _ := strings.Cut(url, ":")
	for i, e := range storeEngines {
		if scheme != url && slices.Contains(e.schemes, scheme) {
			return &storeEngines[i]
		}
	}
	return nil
}

// unknownURL describes a URL whose scheme is unknown. It shows no part of the URL that may be a
// password.
func unknownURL(url string) string {
	scheme, _, found := strings.Cut(url, ":")
	if !found || strings.ContainsAny(scheme, `/\.@`) {
		return "URL without a scheme"
	}
	return fmt.Sprintf("URL that begins with %q", scheme+":")
}

// storeFlag is the flag --store.
type storeFlag struct {
	url   string
	trial bool // whether the command accepts a store in memory
}

func (f *storeFlag) addFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "store", "", "`URL` of the store, see \"oid help urls\" (default $OID_STORE, or a file)")
}

// openToRead opens the store for commands that change nothing. It does not create a missing file.
func (f *storeFlag) openToRead(ctx context.Context) (store.Store, error) { return f.open(ctx, true) }

// openToWrite opens the store for commands that change it. It creates a missing file.
func (f *storeFlag) openToWrite(ctx context.Context) (store.Store, error) { return f.open(ctx, false) }

// openToDelete opens the store for commands that only delete. It does not create a missing file.
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

// using opens a store with open, calls work, and closes the store.
func using(ctx context.Context, open func(context.Context) (store.Store, error), work func(store.Store) error) error {
	s, err := open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(work(s), s.Close())
}

// given returns the URL of --store or OID_STORE, or "" if there is none.
func (f *storeFlag) given() string {
	return cmp.Or(f.url, os.Getenv("OID_STORE"))
}

// engine returns the engine of the store without opening the store.
func (f *storeFlag) engine() (*storeEngine, error) {
	url := f.given()
	if url == "" {
		return &storeEngines[0], nil
	}
	e := storeEngineOf(url)
	switch _, rest, found := strings.Cut(url, ":"); {
	case e == nil && table.IsURL(url):
		return nil, usagef("oid keeps no documents in this kind of database; to analyse the ids of a table, write oid census %s", phrase.Argument(nameOf(url)+"#TABLE"))
	case e == nil && found && filepath.VolumeName(url) == "":
		return nil, usagef("--store or OID_STORE: a %s; want %s", unknownURL(url), storeURLs)
	case e == nil:
		return nil, usagef("store URL without a scheme; for a file, write sqlite:PATH")
	case e.trial && (!f.trial || rest != ""):
		return nil, usagef("only \"oid serve\" accepts a store in memory, which is lost when the command ends; its URL is %s", e.url)
	case rest == "" && !e.trial:
		return nil, usagef("store URL %s without a path; write %s", url, e.url)
	}
	return e, nil
}

func (f *storeFlag) open(ctx context.Context, readOnly bool) (store.Store, error) {
	e, err := f.engine()
	if err != nil {
		return nil, err
	}
	if url := f.given(); url != "" {
		s, err := e.open(ctx, url, readOnly)
		if errors.Is(err, store.ErrURL) {
			err = usageError{err}
		}
		if err != nil {
			return nil, err // without the nil pointer in s
		}
		return s, nil
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
	return openSQLite(ctx, "sqlite:"+path, readOnly)
}

func openSQLite(ctx context.Context, url string, readOnly bool) (store.Store, error) {
	s, err := sqlitestore.Open(ctx, table.FilePath("sqlite", url), &sqlitestore.Options{ReadOnly: readOnly})
	if err == nil {
		return s, nil
	}
	if readOnly && errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; create it with \"oid insert\", or name another store with --store", err)
	}
	return nil, err
}

// errNoDataFolder means that the environment does not name the folder for the user's data.
var errNoDataFolder = errors.New("find your data folder")

// defaultStore returns the path of the file that is the store if no URL is given.
func defaultStore() (string, error) {
	folder, err := dataFolder(runtime.GOOS)
	if err != nil {
		return "", fmt.Errorf("%w: %w; name a store with --store", errNoDataFolder, err)
	}
	return filepath.Join(folder, "oid", "store.db"), nil
}

// dataFolder returns the folder for the user's data on a system, a value of runtime.GOOS. On
// systems other than Windows and macOS, it follows the XDG Base Directory Specification.
func dataFolder(system string) (string, error) {
	if system == "windows" {
		return os.UserCacheDir() // %LocalAppData%, which is meant for data too
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
