package registry_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/pgstore"
	"github.com/oidkit/oid/store/sqlitestore"
)

// TestMain lets tests start this program as a member: a process that joins, makes ids
// when it is told to, and writes down which.
func TestMain(m *testing.M) {
	if os.Getenv(memberVariable) == "" {
		os.Exit(testenv.Main(m))
	}
	if err := runMember(); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
}

// memberVariable is set in the environment of a member.
const memberVariable = "REGISTRY_TEST_MEMBER"

// openAny opens a SQLite file, or the URL of a PostgreSQL database.
func openAny(ctx context.Context, name string) (store.Store, error) {
	if strings.HasPrefix(name, "postgres:") {
		return pgstore.Open(ctx, name)
	}
	return sqlitestore.Open(ctx, name, nil)
}

func runMember() error {
	var (
		flags     = flag.NewFlagSet("member", flag.ExitOnError)
		file      = flags.String("store", "", "the SQLite file, or the URL of a PostgreSQL database")
		ahead     = flags.Duration("ahead", 0, "by how much its clock is ahead; an order changes it")
		addr      = flags.String("addr", "", "ip:port")
		interval  = flags.Duration("interval", 10*time.Second, "between heartbeats")
		container = flags.Bool("container", false, "mount /proc for this pid namespace")
	)
	_ = flags.Parse(os.Args[1:])
	if *container {
		if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			return err
		}
		if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
			return err
		}
	}
	ctx := context.Background()
	s, err := openAny(ctx, *file)
	if err != nil {
		return err
	}
	defer s.Close()
	var offset atomic.Int64
	offset.Store(int64(*ahead))
	o := &registry.Options{OneHost: true}
	if *ahead != 0 {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
	}
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	var m *registry.Member
	for lines.Scan() {
		switch verb, arg, _ := strings.Cut(lines.Text(), " "); verb {
		case "join":
			began := time.Now()
			m, err = registry.New(s, o).Register(ctx, &registry.RegisterOptions{Addr: *addr, Name: "member", Interval: *interval})
			if err != nil {
				return err
			}
			p := m.Process()
			fmt.Println("joined", p.GPID, p.Block, time.Since(began))
		case "make":
			n, err := strconv.Atoi(arg)
			if err != nil {
				return err
			}
			for range n {
				fmt.Println("id", m.Generator().New())
			}
			fmt.Println("made")
		case "ahead":
			d, err := time.ParseDuration(arg)
			if err != nil {
				return err
			}
			offset.Store(int64(d))
		case "exec": // becomes another run of this program
			return syscall.Exec(os.Args[0], os.Args, os.Environ())
		case "leave":
			if err := m.End(ctx, arg); err != nil {
				return err
			}
			fmt.Println("left")
			return nil
		}
	}
	return lines.Err()
}
