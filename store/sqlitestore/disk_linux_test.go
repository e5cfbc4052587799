package sqlitestore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

func init() { roles["disk"] = useSmallDisk }

// TestFullAndReadOnlyDisk runs useSmallDisk in a namespace of its own, where
// mounting a file system needs no privilege.
func TestFullAndReadOnlyDisk(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	cmd := again(ctx, "disk", t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	err := cmd.Run()
	switch {
	case errors.Is(err, syscall.EPERM), cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == notAllowed:
		testenv.Missing(t, "no user namespaces here, so no small disk can be mounted; allow them with \"sysctl kernel.unprivileged_userns_clone=1\"")
	case err != nil:
		t.Error(err)
	}
}

const notAllowed = 77

// useSmallDisk tests the store on a full disk of 2 MiB, and on a read-only disk.
func useSmallDisk(args []string) error {
	full, readOnly := filepath.Join(args[0], "full"), filepath.Join(args[0], "readonly")
	for _, disk := range []string{full, readOnly} {
		if err := os.Mkdir(disk, 0o700); err != nil {
			return err
		}
		if err := syscall.Mount("none", disk, "tmpfs", 0, "size=2m"); err != nil {
			fmt.Fprintln(os.Stderr, "mount:", err)
			os.Exit(notAllowed)
		}
	}
	path := filepath.Join(full, "s.db")
	stored, err := fill(path)
	if err != nil {
		return err
	}
	if err := checkStored(path, stored, nil); err != nil {
		return fmt.Errorf("after the disk was full: %w", err)
	}
	for _, file := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	if err := deleteOnFullDisk(filepath.Join(full, "d.db")); err != nil {
		return err
	}
	return useReadOnlyDisk(readOnly)
}

// deleteOnFullDisk replaces documents until the disk is full, and then deletes them. SQLite
// can do that if it first moves the log's content into the file.
func deleteOnFullDisk(path string) error {
	ctx := context.Background()
	const n = 50
	doc := func(i int, text string) any {
		return bson.D{{Key: "_id", Value: int32(i % n)}, {Key: "text", Value: strings.Repeat(text, 2000)}}
	}
	var docs []any
	for i := range n {
		docs = append(docs, doc(i, "a"))
	}
	s, err := sqlitestore.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	_, err = s.InsertMany(ctx, "c", docs, nil)
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	if s, err = sqlitestore.Open(ctx, path, nil); err != nil {
		return err
	}
	for i := range n {
		if err := s.Replace(ctx, "c", doc(i, "b")); err != nil {
			return err
		}
	}
	if err := occupy(filepath.Join(filepath.Dir(path), "rest")); err != nil {
		return err
	}
	for i := 0; err == nil; i++ { // what has been begun of the log may take some more
		if err = s.Replace(ctx, "c", doc(i, "c")); i == 500 {
			return errors.New("the disk is not full")
		}
	}
	if err := s.Delete(ctx, "c", store.IntKey(7)); err != nil {
		return fmt.Errorf("delete on a full disk: %w", err)
	}
	if deleted, err := s.DeleteRange(ctx, "c", store.Range{}); deleted != n-1 || err != nil {
		return fmt.Errorf("delete %d documents on a full disk, want %d: %w", deleted, n-1, err)
	}
	return s.Close()
}

// occupy fills the free space of a disk with a file.
func occupy(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return f.Close()
}

func useReadOnlyDisk(disk string) error {
	ctx := context.Background()
	path := filepath.Join(disk, "s.db")
	s, err := sqlitestore.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	key, err := s.Insert(ctx, "c", bson.D{})
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	if err := syscall.Mount("none", disk, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("remount: %w", err)
	}
	if s, err := sqlitestore.Open(ctx, path, nil); err == nil || !strings.Contains(err.Error(), "allow this user to write it") {
		return fmt.Errorf("open a file on a read-only disk: %v, %w, want a word on permission", s, err)
	}
	return checkStored(path, []store.Key{key}, &sqlitestore.Options{ReadOnly: true})
}

// fill inserts documents until the disk is full, and returns the keys of the stored documents.
func fill(path string) ([]store.Key, error) {
	ctx := context.Background()
	s, err := sqlitestore.Open(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	var stored []store.Key
	for range 10_000 {
		docs := make([]any, 7)
		for i := range docs {
			docs[i] = bson.D{{Key: "text", Value: strings.Repeat("x", 2000)}}
		}
		keys, err := s.InsertMany(ctx, "c", docs, nil)
		if err == nil {
			stored = append(stored, keys...)
			continue
		}
		if !strings.Contains(err.Error(), "disk is full") || !strings.Contains(err.Error(), "free some space") {
			return nil, fmt.Errorf("on a full disk: %w, want a word on what to do", err)
		}
		for _, key := range keys {
			if !key.IsZero() {
				return nil, errors.New("a document is said to be stored that is not")
			}
		}
		if len(stored) == 0 {
			return nil, errors.New("the disk was full before anything was stored")
		}
		return stored, s.Close()
	}
	return nil, errors.New("the disk never was full")
}

// checkStored checks that the file contains the documents with these keys and no others.
func checkStored(path string, want []store.Key, o *sqlitestore.Options) error {
	ctx := context.Background()
	s, err := sqlitestore.Open(ctx, path, o)
	if err != nil {
		return err
	}
	n := 0
	for doc, err := range s.Find(ctx, "c", store.Query{}) {
		if err != nil {
			return err
		}
		key, err := store.KeyOf(doc)
		if err != nil || n >= len(want) || key != want[n] {
			return fmt.Errorf("found %v, %w at place %d of %d", key, err, n, len(want))
		}
		n++
	}
	if n != len(want) {
		return fmt.Errorf("found %d documents, want %d", n, len(want))
	}
	return s.Close()
}
