// Command generated uses a client that a generator made from the server's OpenAPI
// description: the package api below this folder, which the test generates anew. It
// is a module of its own so that the generator's runtime stays out of oid's go.mod.
//
// Its argument is the server's URL. It makes ids, inspects one, and writes it.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/oidkit/oid/internal/testenv/generated/api"
)

func main() {
	log.SetFlags(0)
	c, err := api.NewClientWithResponses(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	count := int64(1000)
	made, err := c.MakeIDsWithResponse(ctx, nil, api.NewIDs{Count: &count})
	if err != nil || made.JSON200 == nil {
		log.Fatalf("make ids: %v %s", err, made.Body)
	}
	ids := made.JSON200.Ids
	told, err := c.InspectIDWithResponse(ctx, ids[0], nil)
	if err != nil || told.JSON200 == nil {
		log.Fatalf("inspect: %v %s", err, told.Body)
	}
	joined, err := c.JoinWithResponse(ctx, api.Join{Name: "generated", Pid: 7})
	if err != nil || joined.JSON201 == nil {
		log.Fatalf("join: %v %s", err, joined.Body)
	}
	fmt.Println(len(ids), ids[0] == told.JSON200.Id, told.JSON200.Trace.Verdict, len(*joined.JSON201.Block))
}
