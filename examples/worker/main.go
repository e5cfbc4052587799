// Command worker creates ids in its own process, as a service in another language
// without access to the store does: it registers with a running "oid serve" over the
// HTTP API, and creates ids with the process block that it gets.
//
//	go run ./cmd/oid serve
//	go run ./examples/worker -server http://127.0.0.1:8024
//
// It prints an id for each job. Paste one into the page of the server: the page
// shows this worker and its load at that time. The variable OID_TOKEN holds the
// token for a server that requires one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/oidkit/oid/server/client"
	"github.com/oidkit/oid/server/wire"
)

func main() {
	server := flag.String("server", "http://127.0.0.1:8024", "`URL` of oid serve")
	every := flag.Duration("every", time.Second, "time between two jobs")
	jobs := flag.Int("jobs", 0, "number of jobs; 0 runs until an interrupt")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	c := &client.Client{URL: *server, Token: os.Getenv("OID_TOKEN")}
	if err := work(ctx, c, *every, *jobs, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// work does jobs until ctx ends or all are done, and writes an id for each.
func work(ctx context.Context, c *client.Client, every time.Duration, jobs int, out io.Writer) error {
	m, err := c.NewMember(ctx, wire.Registration{Name: "worker", IntervalSeconds: 1}, &client.MemberOptions{Warn: func(err error) { log.Print(err) }})
	if err != nil {
		return err
	}
	log.Printf("worker is %v", m.GPID())
	job := time.NewTicker(every)
	defer job.Stop()
	for done := 0; (jobs <= 0 || done < jobs) && ctx.Err() == nil; {
		select {
		case <-ctx.Done():
		case <-job.C:
			done++
			if _, err := fmt.Fprintln(out, m.New()); err != nil {
				return errors.Join(err, m.End("the output is closed"))
			}
		}
	}
	return m.End("no more jobs")
}
