package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/oidkit/oid/objectid"

	"shop/api"
)

type shop struct{}

func (shop) GetOrder(w http.ResponseWriter, _ *http.Request, id api.Id, params api.GetOrderParams) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(api.Order{Id: id, Parent: params.After})
	fmt.Println(len(*params.Many), (*params.Many)[0])
}

func main() {
	server := httptest.NewServer(api.Handler(shop{}))
	defer server.Close()
	client, err := api.NewClientWithResponses(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	id := objectid.MustParse("507f1f77bcf86cd799439011")
	answer, err := client.GetOrderWithResponse(context.Background(), id, &api.GetOrderParams{After: &id, Many: &[]objectid.ID{id, id}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.JSON200.Id, *answer.JSON200.Parent)
	wrong, err := http.Get(server.URL + "/orders/tea")
	if err != nil {
		log.Fatal(err)
	}
	text, _ := io.ReadAll(wrong.Body)
	fmt.Printf("%d %s", wrong.StatusCode, text)
}
