// Command ferretdb serves MongoDB's protocol on a free port of the loopback
// address, for tests: FerretDB with its documents in SQLite files in the folder
// that is the only argument. Its first line on stdout is the URL. Changes of
// documents are atomic as on MongoDB, see turns.
package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/signal"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: ferretdb FOLDER")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "ferretdb:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, folder string) error {
	files := url.URL{Scheme: "file", Path: folder + "/"}
	f, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: "127.0.0.1:0"},
		Handler:   "sqlite",
		SQLiteURL: files.String(),
	})
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	server, err := url.Parse(f.MongoDBURI()) // waits until it listens
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() { done <- (&turns{server: server.Host}).serve(l) }()
	fmt.Printf("mongodb://%v/\n", l.Addr())
	return <-done
}
