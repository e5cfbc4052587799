// Command serve measures the HTTP API over the loopback interface: ids per second
// for requests of several sizes, and how long one inspection takes.
//
// Server and client are two processes, as they are in life; on a small machine they
// share its cores. Figures are medians over the rounds.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/oidkit/oid/bench/page"
	"github.com/oidkit/oid/server"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

func main() {
	log.SetFlags(0)
	out := page.Output()
	rounds := flag.Int("rounds", 7, "rounds")
	turn := flag.Duration("turn", time.Second, "length of one turn")
	child := flag.Bool("server", false, "be the server; used by this command itself")
	plain := flag.Bool("plain", false, "be the plain server; used by this command itself")
	onlyBeside := flag.Bool("beside", false, "measure only beside the plain server")
	flag.Parse()
	if *plain {
		log.Fatal(servePlain())
	}
	if *child {
		if err := serve(); err != nil {
			log.Fatal(err)
		}
		return
	}
	body, err := measure(*rounds, *turn, *onlyBeside)
	if err == nil {
		err = page.Write(*out, "Ids over HTTP", "go run ./serve", body)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// serve serves on a free port, whose URL it writes, until standard input ends.
func serve() error {
	folder, err := os.MkdirTemp("", "oid-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	s, err := server.New(&server.Options{
		Open: func(ctx context.Context) (store.Store, error) {
			return sqlitestore.Open(ctx, filepath.Join(folder, "oid.db"), nil)
		},
		Drain: time.Millisecond, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // it ends with the parent
		cancel()
	}()
	return s.Serve(ctx, l)
}

func measure(rounds int, turn time.Duration, onlyBeside bool) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	child := exec.Command(self, "-server")
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := child.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := child.Start(); err != nil {
		return "", err
	}
	defer func() {
		_ = in.Close() // which asks it to end
		_ = child.Wait()
	}()
	var url string
	if _, err := fmt.Fscanln(out, &url); err != nil {
		return "", fmt.Errorf("the server has not started: %w", err)
	}
	known, err := fetch(url)
	if err != nil {
		return "", err
	}
	beside, err := sideBySide(url, child.Process.Pid, rounds, turn, []request{
		{"/livez", "GET", "/livez", "", "*/*"},
		{"inspection without the process", "GET", "/v1/ids/507f1f77bcf86cd799439011?trace=false", "", "application/json"},
		{"inspection of an id whose process is not recorded", "GET", "/v1/ids/507f1f77bcf86cd799439011", "", "application/json"},
		{"inspection of different ids whose processes are not recorded", "GET", "/v1/ids/" + anotherID, "", "application/json"},
		{"inspection of an id whose process is recorded", "GET", "/v1/ids/" + known, "", "application/json"},
		{"page with an id", "GET", "/?id=" + known, "", "text/html"},
		{"page with an id whose process is not recorded", "GET", "/?id=507f1f77bcf86cd799439011", "", "text/html"},
		{"page with different ids whose processes are not recorded", "GET", "/?id=" + anotherID, "", "text/html"},
		{"page of processes", "GET", "/processes", "", "text/html"},
		{"list of processes", "GET", "/v1/processes", "", "application/json"},
		{"1 id", "POST", "/v1/ids", `{"count":1}`, "application/json"},
		{"1,000 ids as JSON", "POST", "/v1/ids", `{"count":1000}`, "application/json"},
		{"1,000 ids as bytes", "POST", "/v1/ids", `{"count":1000}`, "application/octet-stream"},
	})
	if err != nil || onlyBeside {
		return beside, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "On the loopback interface, server and client on the same cores. Medians of %d rounds of %v.\n", rounds, turn)
	fmt.Fprintf(&b, "\n| ids in one request | connections | as | ids a second |\n|---:|---:|---|---:|\n")
	for _, c := range []struct {
		count, connections int
		accept             string
	}{
		{1, 32, "application/octet-stream"},
		{1000, 32, "application/octet-stream"},
		{10_000, 1, "application/octet-stream"},
		{10_000, 1, "text/plain"},
		{10_000, 1, "application/json"},
	} {
		ids := newLoad(url, c.connections, 0, func(w *client) error {
			return w.send("POST", "/v1/ids", fmt.Sprintf(`{"count":%d}`, c.count), c.accept)
		})
		var rates []float64
		for range rounds {
			took, n, _, err := ids(turn)
			if err != nil {
				return "", err
			}
			rates = append(rates, float64(n)/took.Seconds())
		}
		r := page.Median(rates)
		fmt.Fprintf(&b, "| %d | %d | %s | %.3g |\n", c.count, c.connections, c.accept, r*float64(c.count))
	}
	fmt.Fprintf(&b, "\n| one inspection, over 32 connections | at | median | 99 of 100 within |\n|---|---|---:|---:|\n")
	for _, c := range []struct {
		name, path string
		rate       int // a second over all connections; 0 as fast as they are answered
	}{
		{"of an id whose process is not recorded", "/v1/ids/507f1f77bcf86cd799439011", 2000},
		{"of an id whose process is recorded", "/v1/ids/" + known, 2000},
		{"without the process", "/v1/ids/507f1f77bcf86cd799439011?trace=false", 0},
		{"of an id whose process is recorded", "/v1/ids/" + known, 0},
	} {
		inspect := newLoad(url, 32, c.rate, func(w *client) error {
			return w.send("GET", c.path, "", "application/json")
		})
		var middle, most []float64
		at := ""
		for range rounds {
			took, n, times, err := inspect(turn)
			if err != nil {
				return "", err
			}
			slices.Sort(times)
			middle = append(middle, times[len(times)/2].Seconds()*1e3)
			most = append(most, times[len(times)*99/100].Seconds()*1e3)
			at = fmt.Sprintf("%.0f a second", float64(n)/took.Seconds())
		}
		if c.rate == 0 {
			at += ", as fast as they are answered"
		}
		fmt.Fprintf(&b, "| %s | %s | %.3f ms | %.3f ms |\n", c.name, at, page.Median(middle), page.Median(most))
	}
	return b.String() + beside, nil
}

// fetch returns an id that the server has made.
func fetch(url string) (string, error) {
	req, err := http.NewRequest("POST", url+"/v1/ids", strings.NewReader(`{}`))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/plain")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	id, err := io.ReadAll(res.Body)
	return strings.TrimSpace(string(id)), err
}

// newLoad opens connections and returns a function that calls request on all of
// them for a time: rate times a second, or if that is 0 as fast as they are answered.
func newLoad(url string, connections, rate int, request func(*client) error) func(time.Duration) (took time.Duration, n int, times []time.Duration, err error) {
	clients := make([]*client, connections)
	for i := range clients {
		clients[i] = &client{host: strings.TrimPrefix(url, "http://")}
		if rate > 0 {
			clients[i].every = time.Second * time.Duration(connections) / time.Duration(rate)
		}
	}
	return func(d time.Duration) (time.Duration, int, []time.Duration, error) {
		var all sync.WaitGroup
		errs := make([]error, connections)
		began := time.Now()
		for i, c := range clients {
			c.times = c.times[:0]
			c.next = began.Add(c.every * time.Duration(i) / time.Duration(connections))
			all.Go(func() {
				for time.Since(began) < d && errs[i] == nil {
					c.pace()
					errs[i] = request(c)
				}
			})
		}
		all.Wait()
		took := time.Since(began)
		var times []time.Duration
		for i, c := range clients {
			if errs[i] != nil {
				return 0, 0, nil, errs[i]
			}
			times = append(times, c.times...)
		}
		return took, len(times), times, nil
	}
}
