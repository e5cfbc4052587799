// Command worker makes ids in its own process, like a service in any other language
// that has no store of its own: it joins a running "oid serve" over its HTTP API,
// which gives it a block of process values, and counts from there by itself.
//
//	go run ./cmd/oid serve
//	go run ./examples/worker -server http://127.0.0.1:8024
//
// It prints an id for each job. Paste one into the server's page: it shows this
// worker, and what it was doing then. A server that wants a token gets the one in
// OID_TOKEN.
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
	jobs := flag.Int("jobs", 0, "end after so many; 0 goes on until an interrupt")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	c := &client.Client{URL: *server, Token: os.Getenv("OID_TOKEN")}
	if err := work(ctx, c, *every, *jobs, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// work does jobs until ctx ends or there were enough, and writes an id for each.
func work(ctx context.Context, c *client.Client, every time.Duration, jobs int, out io.Writer) error {
	me, ids, err := join(ctx, c)
	if err != nil {
		return err
	}
	log.Printf("worker is %v", me.GPID)
	beat := time.NewTicker(time.Duration(me.IntervalMS) * time.Millisecond)
	defer beat.Stop()
	job := time.NewTicker(every)
	defer job.Stop()
	for done := 0; jobs <= 0 || done < jobs; {
		select {
		case <-ctx.Done():
			return leave(c, me)
		case <-job.C:
			done++
			if _, err := fmt.Fprintln(out, ids.New()); err != nil {
				return err
			}
		case <-beat.C:
			_, err := c.Heartbeat(ctx, me.GPID.String(), load())
			if problem, told := errors.AsType[*client.Error](err); told && (problem.Status == http.StatusNotFound || problem.Status == http.StatusConflict) {
				// The server has ended this membership: here is another.
				again, fresh, joinErr := join(ctx, c)
				if err = joinErr; err == nil {
					me, ids = again, fresh
				}
			}
			if err != nil && ctx.Err() == nil {
				log.Print(err) // the block stays its own, so it goes on
			}
		}
	}
	return leave(c, me)
}

// leave says that the worker ends, also when it was interrupted.
func leave(c *client.Client, me wire.Joined) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return c.Leave(ctx, me.GPID.String(), "no more jobs")
}

// join returns what the worker is known as, and a generator for its block.
func join(ctx context.Context, c *client.Client) (me wire.Joined, ids *objectid.Generator, err error) {
	if me, err = c.Join(ctx, wire.Join{Name: "worker", PID: uint32(os.Getpid()), IntervalMS: 1000}); err != nil {
		return me, nil, err
	}
	var block [4]byte
	if n, err := hex.Decode(block[:], []byte(me.Block)); err != nil || n != len(block) {
		return me, nil, fmt.Errorf("block %q, want 8 hexadecimal digits", me.Block)
	}
	ids, err = objectid.NewGenerator(&objectid.Options{Block: &block})
	return me, ids, err
}

// load is what the worker uses, as far as it knows.
func load() wire.Heartbeat {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	heap, goroutines := int64(m.HeapAlloc), int64(runtime.NumGoroutine())
	return wire.Heartbeat{HeapBytes: &heap, Goroutines: &goroutines}
}
