package sqlitestore_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

func init() { roles["visitor"] = visit }

// visit is a process of a user who may not write to the folder of a store. It runs the
// commands on its standard input on that store, one per line, and prints one line for each.
func visit(args []string) error {
	if os.Getuid() == 0 {
		const nobody = 65534
		if err := syscall.Setuid(nobody); err != nil {
			return err
		}
	}
	ctx := context.Background()
	var s *sqlitestore.Store
	var err error
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var n int64
		switch in.Text() {
		case "close":
			err = s.Close()
		case "open":
			s, err = sqlitestore.Open(ctx, args[0], &sqlitestore.Options{ReadOnly: true})
		case "write":
			_, err = sqlitestore.Open(ctx, args[0], nil)
		case "insert":
			_, err = s.Insert(ctx, "c", bson.D{})
		case "count":
			n, err = s.Count(ctx, "c", store.Range{})
		case "backup":
			err = s.Backup(ctx, args[1])
		}
		if err == nil {
			err = fmt.Errorf("done %d", n)
		}
		fmt.Println(strings.ReplaceAll(err.Error(), "\n", " "))
	}
	return nil
}

// A store in a folder that the user may not write to can be read, also with several calls, until
// another process writes to it.
func TestFolderThatIsNotWritable(t *testing.T) {
	dir, err := os.MkdirTemp("", "oid")
	if err != nil {
		t.Fatal(err)
	}
	folder, copies := filepath.Join(dir, "folder"), filepath.Join(dir, "copies")
	path := filepath.Join(folder, "s.db")
	mode := func(name string, mode os.FileMode) {
		t.Helper()
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		mode(folder, 0o755)
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	for _, d := range []string{folder, copies} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mode(dir, 0o755)
	mode(copies, 0o777)
	insert := func() *sqlitestore.Store {
		t.Helper()
		mode(folder, 0o755)
		defer mode(folder, 0o555)
		if err := os.Chmod(path, 0o644); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		s, err := sqlitestore.Open(t.Context(), path, nil)
		if err == nil {
			_, err = s.Insert(t.Context(), "c", bson.D{})
		}
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	closed := func(s *sqlitestore.Store) {
		t.Helper()
		mode(folder, 0o755)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		mode(path, 0o444)
		mode(folder, 0o555)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	visitor := again(ctx, "visitor", path, filepath.Join(copies, "copy.db"))
	in, err := visitor.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := visitor.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := visitor.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		in.Close()
		if err := visitor.Wait(); err != nil {
			t.Error(err)
		}
	}()
	answers := bufio.NewReader(out)
	ask := func(order, want string) {
		t.Helper()
		if _, err := io.WriteString(in, order+"\n"); err != nil {
			t.Fatal(err)
		}
		if got, err := answers.ReadString('\n'); !strings.Contains(got, want) || err != nil {
			t.Errorf("%s: %q, %v, want %q", order, got, err, want)
		}
	}

	closed(insert())
	ask("open", "done")
	ask("count", "done 1")
	ask("insert", "opened for reading only")
	ask("write", "permission denied; allow this user to write")
	ask("backup", "done")
	if n, err := open(t, filepath.Join(copies, "copy.db"), nil).Count(t.Context(), "c", store.Range{}); n != 1 || err != nil {
		t.Errorf("the copy has %d documents, %v, want 1", n, err)
	}

	// Another process writes, so a read could return a mix of old and new pages.
	writer := insert()
	ask("count", "another process has begun to write the file; open the store again")
	ask("close", "done")
	ask("open", "done") // with the memory that the writer shares
	ask("count", "done 2")
	ask("close", "done")
	closed(writer)
	ask("open", "done")
	ask("count", "done 2")
	closed(insert()) // from its begin to its end between two calls
	ask("count", "begun to write")
	ask("close", "done")

	// Writes that another process has left in the -wal file are not ignored.
	files := map[string][]byte{}
	writer = insert()
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if files[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	closed(writer)
	mode(folder, 0o755)
	mode(path, 0o644)
	for name, data := range files {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mode(folder, 0o555)
	ask("open", "done")
	ask("count", "done 4")
	ask("close", "done")
	mode(folder, 0o755)
	if err := os.Remove(path + "-shm"); err != nil {
		t.Fatal(err)
	}
	mode(folder, 0o555)
	ask("open", "their folder writable; if they are not, copy")
}
