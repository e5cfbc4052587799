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
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/oidkit/oid/objectid"
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
	me, ids, err := register(ctx, c)
	if err != nil {
		return err
	}
	log.Printf("worker is %v", me.GPID)
	beat := time.NewTicker(time.Duration(me.IntervalSeconds * float64(time.Second)))
	defer beat.Stop()
	job := time.NewTicker(every)
	defer job.Stop()
	for done := 0; jobs <= 0 || done < jobs; {
		select {
		case <-ctx.Done():
			return end(c, me)
		case <-job.C:
			done++
			if _, err := fmt.Fprintln(out, ids.New()); err != nil {
				return err
			}
		case <-beat.C:
			_, err := c.Heartbeat(ctx, me.GPID, load())
			if problem, ok := errors.AsType[*client.Error](err); ok && (problem.Status == http.StatusNotFound || problem.Status == http.StatusConflict) {
				// The registration has ended on the server.
				again, fresh, registerErr := register(ctx, c)
				if err = registerErr; err == nil {
					me, ids = again, fresh
				}
			}
			if err != nil && ctx.Err() == nil {
				log.Print(err) // the process block stays its own, so it continues
			}
		}
	}
	return end(c, me)
}

// end records the end of the worker, also after an interrupt.
func end(c *client.Client, me wire.Registered) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return c.End(ctx, me.GPID, "no more jobs")
}

// register returns the identity of the worker, and a generator for its process
// block.
func register(ctx context.Context, c *client.Client) (me wire.Registered, ids *objectid.Generator, err error) {
	if me, err = c.Register(ctx, wire.Registration{Name: "worker", PID: uint32(os.Getpid()), IntervalSeconds: 1}); err != nil {
		return me, nil, err
	}
	var block [4]byte
	if n, err := hex.Decode(block[:], []byte(me.ProcessBlock)); err != nil || n != len(block) {
		return me, nil, fmt.Errorf("process block %q, want 8 hexadecimal digits", me.ProcessBlock)
	}
	ids, err = objectid.NewGenerator(&objectid.Options{Block: &block})
	return me, ids, err
}

// load returns the load that Go measures.
func load() wire.Load {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	heap, goroutines := int64(m.HeapAlloc), int64(runtime.NumGoroutine())
	return wire.Load{HeapBytes: &heap, Goroutines: &goroutines}
}
