package pgstore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/pgstore"
)

// roles are the functions of this test program when it is started again as another
// process: roles[os.Args[1]](os.Args[2:]...).
var roles = map[string]func(args []string) error{"forever": writeForever}

func TestMain(m *testing.M) {
	if role := roles[os.Getenv("OID_PGSTORE_ROLE")]; role != nil {
		if err := role(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writeForever inserts documents until its standard input ends: one at a time, in batches, and in
// ordered batches. It prints a line with ids after their documents were stored. A refused
// document is an error.
func writeForever(args []string) error {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
		stop()
	}()
	s, err := pgstore.Open(ctx, args[0])
	if err != nil {
		return err
	}
	for {
		docs := make([]any, []int{1, 1, 5, 300}[rand.IntN(4)])
		for i := range docs {
			docs[i] = bson.D{{Key: "_id", Value: objectid.New()}, {Key: "n", Value: int32(len(docs))}}
		}
		keys, err := s.InsertMany(ctx, "c", docs, &store.InsertOptions{Ordered: rand.IntN(2) == 0})
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		var line strings.Builder
		for _, key := range keys {
			line.WriteString(key.String() + " ")
		}
		fmt.Println(line.String() + ".")
		time.Sleep(20 * time.Millisecond)
	}
}

// writer is another process that inserts documents.
type writer struct {
	cmd      *exec.Cmd
	problems strings.Builder // what it writes to standard error
	ended    chan struct{}

	mu  sync.Mutex
	ids []string // of documents that it was told are stored
}

// startWriter starts a writer, which inserts documents until stop is called.
func startWriter(t *testing.T, uri string) (w *writer, stop func() []string) {
	t.Helper()
	w = &writer{cmd: exec.CommandContext(t.Context(), os.Args[0], uri), ended: make(chan struct{})}
	w.cmd.Env = append(os.Environ(), "OID_PGSTORE_ROLE=forever")
	w.cmd.Stderr = &w.problems
	in, err := w.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(w.ended)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if line, complete := strings.CutSuffix(lines.Text(), "."); complete {
				w.mu.Lock()
				w.ids = append(w.ids, strings.Fields(line)...)
				w.mu.Unlock()
			}
		}
	}()
	return w, func() []string {
		t.Helper()
		in.Close()
		<-w.ended
		if err := w.cmd.Wait(); err != nil {
			t.Errorf("a writer ended with %v: %s", err, w.problems.String())
		}
		return w.ids
	}
}

// acknowledged returns the number of documents that w knows to be stored.
func (w *writer) acknowledged() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.ids)
}

// awaitProgress waits until each writer has stored more documents.
func awaitProgress(t *testing.T, writers []*writer) {
	t.Helper()
	for i, w := range writers {
		before := w.acknowledged()
		testenv.Await(t, "progress of writer "+strconv.Itoa(i), func() error {
			select {
			case <-w.ended:
				t.Fatalf("writer %d has ended: %s", i, w.problems.String())
			default:
			}
			if w.acknowledged() == before {
				return errors.New("it stores nothing")
			}
			return nil
		})
	}
}

// checkStored checks that all acknowledged documents are stored, once. A document whose answer
// was lost may or may not be stored.
func checkStored(t *testing.T, s store.Store, collection string, acknowledged []string) {
	t.Helper()
	stored := map[string]bool{}
	for doc, err := range s.Find(t.Context(), collection, store.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		key, _ := store.KeyOf(doc)
		if stored[key.String()] {
			t.Errorf("document %v is there twice", key)
		}
		stored[key.String()] = true
	}
	for _, id := range acknowledged {
		if !stored[id] {
			t.Errorf("acknowledged document %s is not there", id)
		}
	}
	t.Logf("%d documents acknowledged, %d stored", len(acknowledged), len(stored))
}

// startWriters starts eight writers and waits until each has stored a document. stop ends them
// and returns the ids of all acknowledged documents.
func startWriters(t *testing.T, uri string) (writers []*writer, stop func() []string) {
	t.Helper()
	var stops []func() []string
	for range 8 {
		w, stop := startWriter(t, uri)
		writers, stops = append(writers, w), append(stops, stop)
	}
	awaitProgress(t, writers)
	return writers, func() (acknowledged []string) {
		t.Helper()
		for _, stop := range stops {
			acknowledged = append(acknowledged, stop()...)
		}
		return acknowledged
	}
}

// TestServerKilled repeatedly kills and restarts the server while eight processes insert
// documents. All acknowledged documents must be stored, none twice, and the processes must
// continue without help.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	server := testenv.Postgres(t)
	uri := testenv.PostgresSchema(t, server.URL())
	s := open(t, uri)
	writers, stop := startWriters(t, uri)
	for range testenv.Rounds(3, 10) {
		time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
		server.Kill()
		server.Start()
		began := time.Now()
		awaitProgress(t, writers)
		t.Logf("all writers go on after %v", time.Since(began).Round(time.Millisecond))
	}
	checkStored(t, s, "c", stop())
}
