package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/transport"

	"shop/graph"
)

type resolver struct{}

func (r resolver) Query() graph.QueryResolver { return r }

// Orders returns an order for each id that it is asked for.
func (r resolver) Orders(_ context.Context, filter graph.Filter) ([]*graph.Order, error) {
	orders := []*graph.Order{{ID: filter.Shop, Parent: filter.After}}
	for _, id := range filter.Orders {
		orders = append(orders, &graph.Order{ID: id, Parent: &filter.Shop})
	}
	return orders, nil
}

func main() {
	h := handler.New(graph.NewExecutableSchema(graph.Config{Resolvers: resolver{}}))
	h.AddTransport(transport.POST{})
	for _, id := range []string{"507f1f77bcf86cd799439011", "tea"} {
		for _, query := range []string{
			`{"query":"{orders(filter: {shop: \"` + id + `\", orders: [\"` + id + `\"]}) {id parent}}"}`,
			`{"query":"query($f: Filter!) {orders(filter: $f) {id parent}}","variables":{"f":{"shop":"` + id + `","after":null}}}`,
		} {
			r := httptest.NewRequest("POST", "/", strings.NewReader(query))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			fmt.Println(w.Body)
		}
	}
}
