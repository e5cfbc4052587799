package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/oidkit/oid/internal/testenv"
)

// TestMain lets the scripts run the command as a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"oid": main, "graceful": graceful})
}

// graceful is a service as many are: on SIGTERM it finishes its work, and a second SIGTERM ends
// it at once. It says when it is ready, and when it has finished.
func graceful() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	fmt.Println(os.Getpid())
	<-ctx.Done()
	stop()
	time.Sleep(time.Second)
	fmt.Println("finished")
}

// tests are run in the process that is not the command.
type tests struct{ *testing.M }

// Nothing of the user who runs them counts: neither a default store nor a place of locks.
func (t tests) Run() int {
	testenv.HeedSignals()
	home, err := os.MkdirTemp("", "oid-tests-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	os.Setenv("XDG_DATA_HOME", home)
	os.Unsetenv("OID_STORE")
	os.Unsetenv("OID_LOCKS")
	return testenv.Main(t.M)
}

// TestScripts runs testdata/*.txtar. With UPDATE=1 in the environment it rewrites
// the files that outputs are compared with.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", os.Getenv("GORACE")) // see testenv.UnderRace
			return nil
		},
	})
}
