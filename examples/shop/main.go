// Command shop is a small HTTP service that shows for each of its orders which process
// has taken it:
//
//	go run ./examples/shop -listen 127.0.0.1:8080 -store shop.db
//	curl -d '{"item":"tea"}' http://127.0.0.1:8080/orders
//
// The answer is the order's id. Kill the service, also with kill -9, and show which
// process created the id:
//
//	go run ./cmd/oid trace --store sqlite:shop.db ID
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store"
	"github.com/oidkit/oid/store/sqlitestore"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "`ADDRESS` to listen on")
	path := flag.String("store", "shop.db", "`FILE` to keep the orders and the registry in")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *listen, *path); err != nil {
		log.Fatal(err)
	}
}

// serve takes orders until ctx ends.
func serve(ctx context.Context, listen, path string) (err error) {
	s, err := sqlitestore.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	member, err := registry.New(s, &registry.Options{OneHost: true}).Register(ctx, &registry.RegisterOptions{Name: "shop", Addr: listener.Addr().String()})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	log.Printf("shop listens on %v as %v", listener.Addr(), member.GPID())

	server := &http.Server{Handler: handler(s, member.Generator()), ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(grace) // Serve returns the error
	}()
	err = server.Serve(listener)
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	leaving, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(err, member.End(leaving, "shut down"))
}

// handler stores each posted JSON document as an order, and answers its id, which
// g generates.
func handler(s store.Store, g *objectid.Generator) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var order bson.D
		if err := bson.UnmarshalExtJSON(body, false, &order); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		id, err := s.Insert(r.Context(), "orders", bson.D{{Key: "_id", Value: g.New()}, {Key: "order", Value: order}})
		if err != nil {
			log.Printf("store an order: %v", err)
			http.Error(w, "the order could not be stored", http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintln(w, id)
	})
	return mux
}
