// Command oid creates MongoDB ObjectIds that never repeat within a process, and
// shows when and by which process an ObjectId was created.
//
// Run "oid help" for its subcommands.
package main

import (
	"bufio"
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/oidkit/oid/cmd/oid/internal/job"
)

func main() {
	job.Guard()
	ctx, interrupt := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { interrupt(interrupted{<-signals}) }()
	// With a receiver for SIGPIPE, a write to a reader that is gone returns EPIPE
	// instead of killing the process, and report ends it quietly.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(run(ctx, streams{os.Stdin, os.Stdout, os.Stderr}, os.Args[1:]))
}

// run carries out one command line and returns the exit code.
func run(ctx context.Context, std streams, args []string) int {
	help := bufio.NewWriter(std.out)
	root, started := newRoot(std)
	root.SetOut(help)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !*started {
		err = usageError{unknownCommand(root, err)}
	}
	if failed := help.Flush(); err == nil {
		err = failed // cobra ignores the errors of writing help
	}
	return report(ctx, std, cmd, err)
}
