package sqlitestore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sync/errgroup"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

// roles are the functions of this test program when it is started again as another
// process: roles[os.Args[1]](os.Args[2:]...).
var roles = map[string]func(args []string) error{
	"write":   write,
	"count":   count,
	"forever": writeForever,
	"openers": openAtOnce,
}

func TestMain(m *testing.M) {
	if role := roles[os.Getenv("OID_SQLITESTORE_ROLE")]; role != nil {
		if err := role(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// again returns the command that starts this program as another process, which
// ends with ctx.
func again(ctx context.Context, role string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), "OID_SQLITESTORE_ROLE="+role)
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = time.Second
	return cmd
}

const (
	writers = 8
	each    = 5000
)

// write inserts documents, one or several at a time.
func write(args []string) error {
	path, writer := args[0], args[1]
	ctx := context.Background()
	s, err := sqlitestore.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	for i := 0; i < each; {
		n := min(1+rand.IntN(15), each-i)
		docs := make([]any, n)
		for j := range docs {
			docs[j] = bson.D{{Key: "writer", Value: writer}, {Key: "i", Value: int32(i + j)}}
		}
		if _, err := s.InsertMany(ctx, "shared", docs, nil); err != nil {
			return fmt.Errorf("writer %s: %w", writer, err)
		}
		i += n
	}
	return s.Close()
}

// openWhenThere opens the file for reading as soon as a writer has created it.
func openWhenThere(path string) (*sqlitestore.Store, error) {
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		s, err := sqlitestore.Open(context.Background(), path, &sqlitestore.Options{ReadOnly: true})
		if err == nil || !errors.Is(err, os.ErrNotExist) || time.Now().After(end) {
			return s, err
		}
	}
}

// count reads all documents repeatedly, until all expected ones are there.
func count(args []string) error {
	s, err := openWhenThere(args[0])
	if err != nil {
		return err
	}
	for before, n := 0, 0; n < writers*each; before = n {
		n = 0
		var last store.Key
		for doc, err := range s.Find(context.Background(), "shared", store.Query{}) {
			if err != nil {
				return fmt.Errorf("reader: %w", err)
			}
			key, err := store.KeyOf(doc)
			if err != nil || key.Compare(last) <= 0 {
				return fmt.Errorf("reader: key %v after %v, %w", key, last, err)
			}
			last = key
			n++
		}
		if n < before {
			return fmt.Errorf("reader: %d documents, and %d before", n, before)
		}
	}
	return s.Close()
}

// openers is the number of stores that openAtOnce opens.
const openers = 3

// openAtOnce opens stores at the same time and inserts a document into each.
func openAtOnce(args []string) error {
	ctx := context.Background()
	var all errgroup.Group
	for range openers {
		all.Go(func() error {
			s, err := sqlitestore.Open(ctx, args[0], nil)
			if err != nil {
				return err
			}
			_, err = s.Insert(ctx, "c", bson.D{})
			return errors.Join(err, s.Close())
		})
	}
	return all.Wait()
}

// TestOpenAtOnce opens new files in several processes and several times in each.
func TestOpenAtOnce(t *testing.T) {
	t.Parallel()
	for range 10 {
		path := filepath.Join(t.TempDir(), "s.db")
		var all errgroup.Group
		for range 4 {
			cmd := again(t.Context(), "openers", path)
			all.Go(cmd.Run)
		}
		if err := all.Wait(); err != nil {
			t.Fatal(err)
		}
		n, err := open(t, path, nil).Count(t.Context(), "c", store.Range{})
		if n != 4*openers || err != nil {
			t.Errorf("%d documents, %v, want %d", n, err, 4*openers)
		}
	}
}

func TestManyProcesses(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	path := filepath.Join(t.TempDir(), "shared.db")
	var all []*exec.Cmd
	for i := range writers {
		all = append(all, again(ctx, "write", path, strconv.Itoa(i)))
	}
	all = append(all, again(ctx, "count", path))
	for _, cmd := range all { // all at once: they also make the file at once
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s %v: %v", cmd.Env[len(cmd.Env)-1], cmd.Args[2:], err)
			stop() // what it has not written, the readers would wait for
		}
	}
	next := map[string]map[int32]bool{}
	s := open(t, path, &sqlitestore.Options{ReadOnly: true})
	n := 0
	for doc, err := range s.Find(t.Context(), "shared", store.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		writer, i := doc.Lookup("writer").StringValue(), doc.Lookup("i").Int32()
		if next[writer] == nil {
			next[writer] = map[int32]bool{}
		}
		if next[writer][i] {
			t.Errorf("document %d of writer %s is there twice", i, writer)
		}
		next[writer][i] = true
		n++
	}
	for writer := range maps.Keys(next) {
		if len(next[writer]) != each {
			t.Errorf("%d documents of writer %s, want %d", len(next[writer]), writer, each)
		}
	}
	if n != writers*each {
		t.Errorf("%d documents, want %d", n, writers*each)
	}
}

// writeForever inserts documents and prints their ids. It prints a line after the documents of
// that line were stored.
func writeForever(args []string) error {
	ctx := context.Background()
	s, err := sqlitestore.Open(ctx, args[0], nil)
	if err != nil {
		return err
	}
	for {
		docs := make([]any, 1+rand.IntN(300))
		for i := range docs {
			docs[i] = bson.D{{Key: "text", Value: strings.Repeat("x", rand.IntN(3000))}, {Key: "n", Value: int32(len(docs))}}
		}
		keys, err := s.InsertMany(ctx, "c", docs, nil)
		if err != nil {
			return err
		}
		var line strings.Builder
		for _, key := range keys {
			line.WriteString(key.String() + " ")
		}
		fmt.Println(line.String() + ".")
	}
}

// TestKill kills a writing process fifty times. All documents whose ids it has printed must be
// stored, and each transaction must be stored completely or not at all.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "killed.db")
	acknowledged := 0
	for round := range testenv.Size(15, 50) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		cmd := again(ctx, "forever", path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var ids []string
		in := bufio.NewScanner(out)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			line, complete := strings.CutSuffix(in.Text(), ".")
			if complete {
				if len(ids) == 0 {
					time.AfterFunc(time.Duration(rand.IntN(20))*time.Millisecond, func() { _ = cmd.Process.Kill() })
				}
				ids = append(ids, strings.Fields(line)...)
			}
		}
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != -1 {
			t.Fatalf("round %d: the writer was not killed but ended with %v", round, err)
		}
		stop()
		acknowledged += len(ids)
		s, err := sqlitestore.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		for _, id := range ids {
			key, err := store.ParseKey(id)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Get(t.Context(), "c", key); err != nil {
				t.Errorf("round %d: acknowledged document: %v", round, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if acknowledged == 0 {
		t.Error("nothing was ever acknowledged: the test has tested nothing")
	}
	s := open(t, path, nil)
	batches := map[int32]int32{} // documents of batches of this size
	for doc, err := range s.Find(t.Context(), "c", store.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		batches[doc.Lookup("n").Int32()]++
	}
	for size, n := range batches {
		if n%size != 0 {
			t.Errorf("%d documents of batches of %d: a batch is half stored", n, size)
		}
	}
	checkIntegrity(t, path)
}
