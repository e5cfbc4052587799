package sqlitestore_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/store/sqlitestore"
)

func init() { roles["limit"] = writeUpToLimit }

// TestFileSizeLimit runs writeUpToLimit in a process of its own, so that the limit does
// not affect other tests.
func TestFileSizeLimit(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if err := again(ctx, "limit", filepath.Join(t.TempDir(), "s.db")).Run(); err != nil {
		t.Error(err)
	}
}

func writeUpToLimit(args []string) error {
	ctx := context.Background()
	s, err := sqlitestore.Open(ctx, args[0], nil)
	if err != nil {
		return err
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	limited := old
	limited.Cur = 200 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limited); err != nil {
		return err
	}
	insert := func() error {
		_, err := s.Insert(ctx, "c", bson.D{{Key: "text", Value: strings.Repeat("x", 2000)}})
		return err
	}
	for n := 0; err == nil; n++ {
		if n == 500 {
			return errors.New("the limit was never reached")
		}
		err = insert()
	}
	if !strings.Contains(err.Error(), "ulimit -f") || !strings.Contains(err.Error(), "nothing was stored") {
		return fmt.Errorf("at the limit: %w, want a word on ulimit -f", err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	if err := insert(); err != nil {
		return fmt.Errorf("without the limit again: %w", err)
	}
	return s.Close()
}
