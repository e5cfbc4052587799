// Command oid makes MongoDB ObjectIds that never repeat, and tells of any
// ObjectId when it was born, in which process, and what that process was doing.
//
// Run "oid help" for its subcommands.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// With somebody to receive SIGPIPE, a write to a reader that has gone away
	// returns EPIPE instead of killing the process, and status ends it quietly.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(run(ctx, streams{os.Stdin, os.Stdout, os.Stderr}, os.Args[1:]))
}

// streams are the three files that a command talks to.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run carries out one command line and returns the exit code.
func run(ctx context.Context, std streams, args []string) int {
	help := &checkedWriter{w: std.out}
	root, started := newRoot(std)
	root.SetOut(help)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && !*started {
		err = usageError{err}
	}
	if err == nil {
		err = help.err
	}
	return report(std.err, err)
}

// checkedWriter remembers the first error of a writer, for those who write help
// and do not look.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if c.err == nil {
		c.err = err
	}
	return n, err
}
